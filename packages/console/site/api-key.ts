import type { Actlog } from '@actlog/client';
import { createClient, createUserClient } from './connection.ts';
import { type Identity, readIdentity } from './identity.ts';

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

/** Returns the API key that this tab keeps until it closes. */
export function keptApiKey(): string | undefined {
  return storage().getItem(storageName) ?? undefined;
}

/** Stores the key for this tab. */
function keepApiKey(apiKey: string): void {
  storage().setItem(storageName, apiKey);
}

/** Removes the key from this tab. */
function dropApiKey(): void {
  storage().removeItem(storageName);
}

/** Credential of a tab: an API key, or `browser` for a cookie or a proxy that signs the whole browser in. */
export type Credential = { readonly apiKey: string } | 'browser';

/** A client that is signed in, and its user. */
export interface OpenedSession {
  readonly client: Actlog;
  readonly identity: Identity;
}

/** Keeps a key for this tab; the browser itself keeps the cookie of a person. */
export function keepCredential(credential: Credential): void {
  if (credential !== 'browser') keepApiKey(credential.apiKey);
}

/** Removes a key from this tab. */
export function dropCredential(): void {
  dropApiKey();
}

/** `true` if both are the same credential. */
export function isSameCredential(left: Credential | undefined, right: Credential | undefined): boolean {
  if (left === undefined || right === undefined || left === 'browser' || right === 'browser') {
    return left === right;
  }
  return left.apiKey === right.apiKey;
}

/**
 * Signs in.
 *
 * @param onRefused - called when the service rejects the credential
 * @throws ActlogError if the credential is rejected or the service does not respond.
 */
export async function openSession(credential: Credential, onRefused: () => void): Promise<OpenedSession> {
  if (credential !== 'browser') {
    const client = createClient(credential.apiKey, onRefused);
    return { client, identity: await readIdentity(client) };
  }
  const { client, setCsrfToken } = createUserClient(onRefused);
  const identity = await readIdentity(client);
  if (identity.csrfToken !== undefined) setCsrfToken(identity.csrfToken);
  return { client, identity };
}

/** Signs a person out of the server, and then of the provider or the proxy, which is another page. */
export async function closeSession(client: Actlog): Promise<void> {
  const { continueAt } = await client.request<{ readonly continueAt: string | null }>(
    'POST',
    '/console/api/sign-out',
  );
  if (continueAt !== null) location.assign(continueAt);
}
