import { notificationText } from '../messages/json-rpc.ts';

/** Delay before the first notification, in milliseconds. Most checks are decided sooner. */
const initialDelayMs = 1000;
/** Delay between two notifications, in milliseconds. */
const delayMs = 5000;
/** Growth of the progress with each notification: less than any progress that the server reports later. */
const step = 1e-6;

/** Returns the progress token of a request; undefined if the client wants no notifications. */
export function progressTokenOf(params: unknown): string | number | undefined {
  const { _meta: meta } = (params ?? {}) as { readonly _meta?: { readonly progressToken?: unknown } | null };
  const token = meta?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/**
 * Notifies a client regularly that its call waits, so that its time limit starts anew (Model Context Protocol,
 * "Progress", "Timeouts").
 *
 * @param notify - receives the text of each notification
 * @returns a function that ends the notifications
 */
export function notifyWhileHeld(progressToken: string | number, notify: (text: string) => void): () => void {
  let count = 0;
  let timer: NodeJS.Timeout;
  const next = (afterMs: number) => {
    timer = setTimeout(() => {
      count += 1;
      const progress = { progressToken, progress: count * step, message: 'Waiting for approval.' };
      notify(notificationText('notifications/progress', progress));
      next(delayMs);
    }, afterMs);
    timer.unref();
  };
  next(initialDelayMs);
  return () => clearTimeout(timer);
}
