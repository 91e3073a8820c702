import type { AnnouncedCall, RecordedOutcome } from '../../events/tool-call.ts';
import type { AdapterCalls } from '../adapter-calls.ts';
import type { HookedCall } from '../hooked-calls.ts';
import type { CallParams } from './unrepeated-calls.ts';

/** Part of a call that depends on the recorder. */
export type RecorderTerms = Pick<HookedCall, 'announced' | 'onRecorded' | 'traceparent'>;

/** Common part of a recorder and of the client that announced the call. */
interface Common {
  readonly announced: AnnouncedCall | undefined;
  /** Recorded outcome, sealed for the client. */
  outcome?: string | undefined;
}

/** A call as announced by the client, for each recorder of the server. */
export class ServerCall {
  readonly #params: CallParams;
  readonly #common = new Map<object, Common>();
  readonly #calls: AdapterCalls[] = [];

  constructor(params: CallParams) {
    this.#params = params;
  }

  /** Returns the part of a hooked call that depends on the recorder. */
  termsOf(calls: AdapterCalls): RecorderTerms {
    const common = this.#commonOf(calls);
    const { announced } = common;
    // OpenTelemetry's place for the trace context of a request (Model Context Protocol, `_meta`).
    const traceparent = metaOf(this.#params)?.traceparent;
    const traced = typeof traceparent === 'string' ? { traceparent } : {};
    if (!announced) return traced;
    const onRecorded = (outcome: RecordedOutcome) => {
      common.outcome = calls.sharedCalls?.sealOutcome(announced, outcome);
    };
    return { ...traced, announced, onRecorded };
  }

  /** Sealed outcomes of what was recorded so far, for the client. */
  get outcomes(): readonly string[] {
    return [...this.#common.values()].flatMap(({ outcome }) => outcome ?? []);
  }

  /** `true` if the client announced the call to one of the recorders. */
  get isAnnounced(): boolean {
    return [...this.#common.values()].some(({ announced }) => announced !== undefined);
  }

  /** Returns the result with what was recorded, for the client. */
  withOutcomes(result: unknown): unknown {
    return withOutcomes(result, this.outcomes);
  }

  /** Records that the call continues in another request, which the client announces in the same way. */
  goesOn(): void {
    for (const calls of this.#calls) {
      const { announced } = this.#commonOf(calls);
      if (announced) calls.sharedCalls?.reopen(announced);
    }
  }

  /** Opens the announcement only once for a recorder, even if it has several guards. */
  #commonOf(calls: AdapterCalls): Common {
    const known = this.#common.get(calls.recorder);
    if (known) return known;
    const common: Common = { announced: openAnnouncement(calls, this.#params) };
    this.#common.set(calls.recorder, common);
    this.#calls.push(calls);
    return common;
  }
}

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

/** Returns the fields for extensions of a message; undefined without any. */
function metaOf(message: unknown): { readonly [field: string]: unknown } | null | undefined {
  const { _meta: meta } = (message ?? {}) as WithMeta;
  return meta as { readonly [field: string]: unknown } | null | undefined;
}

/** Returns the parameters with announcements for the server; the same object without any. */
export function withAnnouncements<Params extends CallParams>(
  params: Params,
  sealed: readonly string[],
): Params {
  return sealed.length === 0 ? params : withMeta(params, sealed);
}

/** Returns a result with sealed outcomes for the client; the same result without any. */
function withOutcomes(result: unknown, sealed: readonly string[]): unknown {
  const isObject = typeof result === 'object' && result !== null;
  return sealed.length === 0 || !isObject ? result : withMeta(result, sealed);
}

/** Returns the sealed announcements, or outcomes, in a message. */
export function sealedIn(message: unknown): readonly unknown[] {
  const sealed = metaOf(message)?.[metaKey];
  return Array.isArray(sealed) ? sealed.slice(0, maxSealed) : [];
}

/** Removes the outcomes from a result, so that the caller gets the result that the tool returned. */
export function removeOutcomes(result: unknown): void {
  if (sealedIn(result).length === 0) return;
  const { [metaKey]: _removed, ...meta } = (result as { _meta: Record<string, unknown> })._meta;
  if (Object.keys(meta).length > 0) Object.assign(result as object, { _meta: meta });
  else Reflect.deleteProperty(result as object, '_meta');
}

/** Opens the announcement of a call for the given recorder; undefined if there is none for it. */
function openAnnouncement(calls: AdapterCalls, params: CallParams): AnnouncedCall | undefined {
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
