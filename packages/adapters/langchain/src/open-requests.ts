import { callDigest, newSessionId } from '@actlog/recorder/adapter';

/** Maximum number of keys to remember; a call that a model requests has two. */
const maxKeys = 20_000;

/** Maximum number of requests to remember for a key. */
const maxRequests = 8;

/** A call in a model's response. */
export interface RequestedCall {
  readonly name: string;
  readonly id?: string | undefined;
  readonly args: unknown;
}

/** A call that a model has requested in a session. */
interface OpenRequest {
  readonly sessionId: string;
  /** `true` once the application has run the call. */
  isTaken: boolean;
}

/**
 * Calls that models have requested, whose tools the application runs itself. The application may pass on the call, its
 * id or only its arguments, and may have stored them as JSON in between.
 */
export class OpenRequests {
  /** Sessions by the object of the arguments, which identifies a call best. */
  readonly #byArguments = new WeakMap<object, string>();
  readonly #byKey = new Map<string, OpenRequest[]>();

  /** Notes a call that a model has requested. */
  add(call: RequestedCall, sessionId: string): void {
    const { args } = call;
    if (isObject(args)) this.#byArguments.set(args, sessionId);
    const request = { sessionId, isTaken: false };
    for (const key of keysOf(call)) {
      const others = this.#byKey.get(key) ?? [];
      this.#byKey.delete(key);
      this.#byKey.set(key, [...others.slice(1 - maxRequests), request]);
    }
    while (this.#byKey.size > maxKeys) this.#byKey.delete(this.#byKey.keys().next().value as string);
  }

  /**
   * Returns the session of the response that requested a call. If several conversations have requested the same one,
   * returns a new session, because the calls of two people must not get into one.
   *
   * @param call - the call; without an id if only its arguments were passed
   */
  take(call: RequestedCall): string | undefined {
    const { args } = call;
    const own = isObject(args) ? this.#byArguments.get(args) : undefined;
    const known = keysOf(call)
      .map((key) => this.#byKey.get(key))
      .find((requests) => requests !== undefined);
    const open = known?.filter(({ isTaken }) => !isTaken) ?? [];
    const candidates = (open.length > 0 ? open : (known ?? [])).filter(
      ({ sessionId }) => own === undefined || sessionId === own,
    );
    const [first] = candidates;
    if (!first) return own;
    if (candidates.some(({ sessionId }) => sessionId !== first.sessionId)) return newSessionId();
    first.isTaken = true;
    return first.sessionId;
  }
}

/** Returns the keys of a call: by its id, if it has one, and by its arguments, which are not kept in memory. */
function keysOf({ name, id, args }: RequestedCall): string[] {
  const byArguments = callDigest({ toolName: name, arguments: args });
  return id === undefined ? [byArguments] : [`${name}\n${id}`, byArguments];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
