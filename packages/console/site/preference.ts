const prefix = 'actlog.';

/** Returns a choice that the user made in this browser, or `undefined` if there is none or the browser keeps none. */
export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice of the user in this browser, if the browser keeps any. */
export function keepPreference(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // The choice holds until the page is closed.
  }
}
