import type { Actlog } from '@actlog/client';
import { dropApiKey, keepApiKey } from './api-key.ts';
import { createClient, createUserClient } from './connection.ts';
import { type Identity, readIdentity } from './identity.ts';

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
