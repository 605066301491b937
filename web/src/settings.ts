/** Theme and language: the browser's, or what somebody has chosen. */

import { en, type Dictionary } from "./i18n/en";
import { ko } from "./i18n/ko";
import { createStore, useStore } from "./store";

export type Theme = "auto" | "light" | "dark";
export type Language = "en" | "ko";

const THEME = "warren.theme";
const LANGUAGE = "warren.language";
const DICTIONARIES: Record<Language, Dictionary> = { en, ko };

function remembered<T extends string>(key: string, known: readonly T[], otherwise: T): T {
  return known.find((one) => one === localStorage.getItem(key)) ?? otherwise;
}

function browserLanguage(): Language {
  return navigator.language.toLowerCase().startsWith("ko") ? "ko" : "en";
}

export const theme = createStore<Theme>(remembered(THEME, ["auto", "light", "dark"], "auto"));
export const language = createStore<Language>(remembered(LANGUAGE, ["en", "ko"], browserLanguage()));

function show(): void {
  document.documentElement.dataset["theme"] = theme.get();
  document.documentElement.lang = language.get();
}
theme.subscribe(() => (localStorage.setItem(THEME, theme.get()), show()));
language.subscribe(() => (localStorage.setItem(LANGUAGE, language.get()), show()));
show();

export function useWords(): Dictionary {
  return DICTIONARIES[useStore(language)];
}

export function isDark(): boolean {
  return theme.get() === "dark" || (theme.get() === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}
