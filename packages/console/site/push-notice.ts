import type { Actlog } from '@actlog/client';

/** A browser of the user that is subscribed. */
export interface SubscribedBrowser {
  readonly id: string;
  readonly label: string;
  readonly createdAt: string;
}

/** State of the user's browsers. */
export interface PushState {
  /** Key by which push services know the server. */
  readonly publicKey: string;
  /** `true` if a channel sends notifications to browsers. */
  readonly isOffered: boolean;
  readonly items: readonly SubscribedBrowser[];
}

const path = '/server/v1/push-subscriptions';

/** `true` if this browser can show notifications of a server when the console is closed. */
export function canPush(): boolean {
  return isSecureContext && 'serviceWorker' in navigator && 'PushManager' in globalThis;
}

/** Returns the browsers of the user. */
export function readPushState(client: Actlog, signal: AbortSignal): Promise<PushState> {
  return client.request<PushState>('GET', path, { signal });
}

/** Subscribes this browser, for which it asks the user. @throws Error when the user or the browser refuses. */
export async function subscribe(client: Actlog, publicKey: string): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('The browser does not allow notifications of this page.');
  }
  const registration = await registerWorker();
  const options = { userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) };
  const known = await registration.pushManager.getSubscription();
  // One with another key, of an earlier secret of the server, cannot be used.
  const isCurrent = known && textOf(known.options.applicationServerKey) === publicKey;
  if (known && !isCurrent) await known.unsubscribe();
  const subscription = isCurrent ? known : await registration.pushManager.subscribe(options);
  const { endpoint, keys } = subscription.toJSON();
  await client.request('POST', path, { body: { label: browserName(), subscription: { endpoint, keys } } });
}

/** Removes a browser of the user. */
export async function unsubscribe(client: Actlog, id: string): Promise<void> {
  await client.request('DELETE', `${path}/${encodeURIComponent(id)}`);
}

/** The parts of Trusted Types that are used here (https://www.w3.org/TR/trusted-types/). */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

/** Registers the service worker, and resolves when it can receive notifications. */
async function registerWorker(): Promise<ServiceWorkerRegistration> {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  const name = 'service-worker.js';
  // The policy of the page refuses any other address of a script.
  const policy = trustedTypes?.createPolicy(`actlog-worker-${Date.now()}`, { createScriptURL: () => name });
  await navigator.serviceWorker.register((policy?.createScriptURL(name) ?? name) as string);
  return navigator.serviceWorker.ready;
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer | null): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Returns a name of this browser that its user recognizes. */
function browserName(): string {
  const { userAgent } = navigator;
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'Browser';
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
  const system = /(iPhone|iPad|Android|Windows|Macintosh|Linux)/.exec(userAgent)?.[1];
  return [names[browser] ?? browser, system].filter(Boolean).join(' on ');
}
