const storageName = 'actlog.apiKey';

/** In-memory replacement for a storage that the browser lacks or blocks; lasts until the page unloads. */
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

const keyInLink = /^#key=(.*)$/;

/** Returns the key that follows `#key=` in the address. */
export function linkKey(): string | undefined {
  return keyInLink.exec(location.hash)?.[1] || undefined;
}

/** `true` if the address contains a key, as the link does that the server prints when it starts. */
export function hasLinkKey(): boolean {
  return linkKey() !== undefined;
}

/**
 * Returns the key that follows `#key=` in the address and removes it from the address and its history entry. The part
 * behind `#` is never sent to a server.
 */
export function takeLinkKey(): string | undefined {
  const given = keyInLink.exec(location.hash)?.[1];
  if (given === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}#/`);
  return given || undefined;
}

/** The API key that this tab keeps until it closes. */
export function keptApiKey(): string | undefined {
  return storage().getItem(storageName) ?? undefined;
}

/** Stores the key for this tab. */
export function keepApiKey(apiKey: string): void {
  storage().setItem(storageName, apiKey);
}

/** Removes the key from this tab. */
export function dropApiKey(): void {
  storage().removeItem(storageName);
}
