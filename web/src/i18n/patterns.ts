/** What the API says in English sentences, in another language: by patterns, with what stands in their parentheses. */

export type Pair = [english: string, other: string];

/** Leaves as it is what no pattern fits. */
export function translator(pairs: readonly Pair[]): (text: string) => string {
  const patterns = pairs.map(([english, other]): [RegExp, string] => [new RegExp(`^${english}$`), other]);
  return (text) => {
    const known = patterns.find(([pattern]) => pattern.test(text));
    return known === undefined ? text : text.replace(known[0], known[1]);
  };
}
