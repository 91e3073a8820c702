const storageName = 'actlog.apiKey';

/** Stands in for a storage that the browser refuses or lacks, as where cookies are blocked, until the page is left. */
let remembered: string | null = null;
const memory: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: () => remembered,
  setItem: (_name, value) => {
    remembered = value;
  },
  removeItem: () => {
    remembered = null;
  },
};

function storage(): typeof memory {
  try {
    return (sessionStorage as Storage | null) ?? memory;
  } catch {
    return memory;
  }
}

/**
 * Takes the key that follows `#key=` in the address, as in the link that the server prints when it starts. Whatever
 * stands there is removed from the address and its place in the history: what follows `#` is never sent to a server.
 */
export function takeLinkKey(): string | undefined {
  const given = /^#key=(.*)$/.exec(location.hash)?.[1];
  if (given === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}#/`);
  return given || undefined;
}

/** The API key that is kept for this tab, until it closes. */
export function keptApiKey(): string | undefined {
  return storage().getItem(storageName) ?? undefined;
}

/** Keeps the key for this tab. */
export function keepApiKey(apiKey: string): void {
  storage().setItem(storageName, apiKey);
}

/** Forgets the key. */
export function dropApiKey(): void {
  storage().removeItem(storageName);
}
