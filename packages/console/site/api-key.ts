const storageName = 'actlog.apiKey';

/**
 * The API key that the person signed in with. It is kept for this tab only and until it closes. A key that follows
 * `#key=` in the address, as in the link that the server prints when it starts, is taken from there and removed from
 * the address: what follows `#` is never sent to a server.
 */
export function readApiKey(): string | undefined {
  const given = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    history.replaceState(null, '', `${location.pathname}#/`);
    keepApiKey(given);
  }
  return sessionStorage.getItem(storageName) ?? undefined;
}

/** Keeps the key for this tab. */
export function keepApiKey(apiKey: string): void {
  sessionStorage.setItem(storageName, apiKey);
}

/** Forgets the key. */
export function dropApiKey(): void {
  sessionStorage.removeItem(storageName);
}
