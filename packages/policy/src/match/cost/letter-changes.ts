/** Cache of lower-case and upper-case texts of the current evaluation; undefined outside of one. */
let made: { readonly lower: Map<string, string>; readonly upper: Map<string, string> } | undefined;

/** Runs an evaluation with a cache, so that a loop changes the case of the same text only once. */
export function rememberingLetters<Result>(evaluate: () => Result): Result {
  made = { lower: new Map(), upper: new Map() };
  try {
    return evaluate();
  } finally {
    made = undefined;
  }
}

/** Returns a text in lower case. */
export function lowerCaseOf(text: string): string {
  return remembered(made?.lower, text, () => text.toLowerCase());
}

/** Returns a text in upper case. */
export function upperCaseOf(text: string): string {
  return remembered(made?.upper, text, () => text.toUpperCase());
}

function remembered(known: Map<string, string> | undefined, text: string, change: () => string): string {
  const before = known?.get(text);
  if (before !== undefined) return before;
  const changed = change();
  known?.set(text, changed);
  return changed;
}
