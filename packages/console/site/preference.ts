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

/** Color schemes that a user can choose; `system` follows the browser. */
export const colorSchemes = ['system', 'light', 'dark'] as const;

export type ColorScheme = (typeof colorSchemes)[number];

const storageName = 'actlog.colorScheme';

const changed = 'actlog:color-scheme';

/** Returns the stored choice; `system` without one, or if the browser blocks storage. */
export function keptColorScheme(): ColorScheme {
  try {
    const kept = localStorage.getItem(storageName);
    return colorSchemes.find((scheme) => scheme === kept) ?? 'system';
  } catch {
    return 'system';
  }
}

/** Shows the page in a scheme, without storing it. */
function showColorScheme(scheme: ColorScheme): void {
  const { dataset } = document.documentElement;
  if (scheme === 'system') delete dataset.colorScheme;
  else dataset.colorScheme = scheme;
  dispatchEvent(new Event(changed));
}

/** Stores the choice of the user for all tabs, and shows the page in it. */
export function chooseColorScheme(scheme: ColorScheme): void {
  try {
    localStorage.setItem(storageName, scheme);
  } catch {
    // The choice lasts until the page unloads.
  }
  showColorScheme(scheme);
}

/** Calls a function whenever the colors of the page change: by a choice, or by the browser. */
export function onColorChange(listener: () => void, signal: AbortSignal): void {
  addEventListener(changed, listener, { signal });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener, { signal });
}

/** Shows the page in the stored scheme from now on, also when the user chooses another one in another tab. */
export function followColorScheme(): void {
  showColorScheme(keptColorScheme());
  addEventListener('storage', ({ key }) => {
    if (key === storageName) showColorScheme(keptColorScheme());
  });
}
