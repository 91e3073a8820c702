import type { AnnouncedCall } from '../../events/announced-call.ts';
import type { AdapterCalls } from '../adapter-calls.ts';
import type { CallParams } from './call-params.ts';

/**
 * Key in `_meta` of a `tools/call` request for announcements of the call, one for each recorder of the client; and in
 * `_meta` of its result for what the server recorded (Model Context Protocol, "General fields": `_meta`).
 */
export const metaKey = 'actlog/call';

/** Maximum number of announcements, or outcomes, that are read from one message. */
const maxSealed = 8;

/** Part of a message with fields for extensions. */
interface WithMeta {
  readonly _meta?: unknown;
}

/** Returns the parameters with announcements for the server; the same object without any. */
export function withAnnouncements<Params extends CallParams>(
  params: Params,
  sealed: readonly string[],
): Params {
  return sealed.length === 0 ? params : withMeta(params, sealed);
}

/** Returns a result with sealed outcomes for the client; the same result without any. */
export function withOutcomes(result: unknown, sealed: readonly string[]): unknown {
  const isObject = typeof result === 'object' && result !== null;
  return sealed.length === 0 || !isObject ? result : withMeta(result, sealed);
}

/** Returns the sealed announcements, or outcomes, in a message. */
export function sealedIn(message: unknown): readonly unknown[] {
  const { _meta: meta } = (message ?? {}) as WithMeta;
  const sealed = (meta as { [metaKey]?: unknown } | null | undefined)?.[metaKey];
  return Array.isArray(sealed) ? sealed.slice(0, maxSealed) : [];
}

/** Removes the outcomes from a result, so that the caller gets the tool's own. */
export function removeOutcomes(result: unknown): void {
  if (sealedIn(result).length === 0) return;
  const { [metaKey]: _removed, ...meta } = (result as { _meta: Record<string, unknown> })._meta;
  if (Object.keys(meta).length > 0) Object.assign(result as object, { _meta: meta });
  else Reflect.deleteProperty(result as object, '_meta');
}

/** Opens the announcement of a call for the given recorder; undefined if none is meant for it. */
export function openAnnouncement(calls: AdapterCalls, params: CallParams): AnnouncedCall | undefined {
  for (const sealed of sealedIn(params)) {
    const call = calls.sharedCalls?.open(sealed);
    if (call) return call;
  }
  return undefined;
}

function withMeta<Message extends object>(message: Message, sealed: readonly string[]): Message {
  const { _meta: meta } = message as WithMeta;
  return { ...message, _meta: { ...(typeof meta === 'object' ? meta : {}), [metaKey]: sealed } };
}
