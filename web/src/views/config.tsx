/** The configuration that counts, section by section. */

import type { JSX } from "preact";
import { useLive } from "../live";
import { keep, usePlace } from "../navigation";
import { useWords } from "../settings";
import type { ConfigAnswer, Json } from "../types";
import { Typed } from "../ui/fields";
import { Message, Whole } from "../ui/states";

export function ConfigView(): JSX.Element {
  const words = useWords();
  const { query } = usePlace();
  const text = query.get("key") ?? "";
  const live = useLive<ConfigAnswer>("config", 15_000);
  return (
    <div class="page">
      <header class="title">
        <h1>{words.config.title}</h1>
        <span class="muted">{words.config.text}</span>
      </header>
      <div class="filters" role="search">
        <Typed
          label={words.config.search}
          value={text}
          onType={(key) => keep(new URLSearchParams(key ? { key } : {}))}
          isSearch
        />
      </div>
      <Whole live={live}>
        {(found) => {
          const shown = fitting(found, text);
          return shown.length === 0 ? <Message title={words.config.none} /> : <Sections sections={shown} />;
        }}
      </Whole>
    </div>
  );
}

function fitting({ sections }: ConfigAnswer, text: string): ConfigAnswer["sections"] {
  const wanted = text.toLowerCase();
  return sections
    .map((one) => ({
      ...one,
      keys: one.keys.filter(({ key }) => `${one.section}.${key}`.toLowerCase().includes(wanted)),
    }))
    .filter((one) => one.keys.length > 0);
}

function Sections({ sections }: Pick<ConfigAnswer, "sections">): JSX.Element {
  const words = useWords();
  return (
    <div class="sections">
      {sections.map((one) => (
        <section key={one.section} class="panel">
          <h2 class="mono">[{one.section}]</h2>
          <dl class="keys">
            {one.keys.map(({ key, value }) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>
                  {value === null || value === "" ? <span class="muted">{words.config.notSet}</span> : written(value)}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

function written(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : value.map(written).join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
