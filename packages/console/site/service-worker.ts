// Shows pushed notifications, and opens the console when the user clicks on one. It handles no requests, so the page
// loads as it does without it.

/** The parts of a service worker's scope that are used here (https://www.w3.org/TR/service-workers/). */
interface WorkerScope {
  readonly registration: {
    readonly scope: string;
    showNotification(title: string, options: NotificationOptions): Promise<void>;
  };
  readonly clients: {
    matchAll(options: object): Promise<readonly WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
    claim(): Promise<void>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listen: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'push', listen: (event: PushedEvent) => void): void;
  addEventListener(type: 'notificationclick', listen: (event: ClickEvent) => void): void;
}

interface ExtendableEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface PushedEvent extends ExtendableEvent {
  readonly data: { json(): unknown } | null;
}

interface ClickEvent extends ExtendableEvent {
  readonly notification: Notification & { readonly data: unknown };
}

interface WindowClient {
  readonly url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}

/** A notification of the server. */
interface Pushed {
  readonly title?: unknown;
  readonly body?: unknown;
  readonly url?: unknown;
  readonly tag?: unknown;
}

const scope = globalThis as unknown as WorkerScope;

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));

scope.addEventListener('push', (event) => {
  const { title, body, url, tag } = pushedBy(event);
  event.waitUntil(
    scope.registration.showNotification(typeof title === 'string' ? title : 'actlog', {
      body: typeof body === 'string' ? body : '',
      icon: new URL('icon.svg', scope.registration.scope).href,
      // The newest about an action replaces the ones before.
      ...(typeof tag === 'string' && { tag }),
      data: typeof url === 'string' ? url : null,
    }),
  );
});

scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openConsole(event.notification.data));
});

function pushedBy({ data }: PushedEvent): Pushed {
  try {
    return (data?.json() ?? {}) as Pushed;
  } catch {
    return {};
  }
}

/** Opens a place of the console, in a window that shows it already if there is one. Never another address. */
async function openConsole(given: unknown): Promise<void> {
  const home = scope.registration.scope;
  const place = typeof given === 'string' ? (URL.parse(given)?.hash ?? '') : '';
  const url = `${home}${place}`;
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const shown = windows.find((window) => window.url.startsWith(home));
  if (!shown) {
    await scope.clients.openWindow(url);
    return;
  }
  await shown.navigate(url);
  await shown.focus();
}
