import type { OpenCall } from '../calls/open-call.ts';
import { keyOfId } from '../messages/json-rpc.ts';
import type { ServerTools } from '../tools/server-tools.ts';
import { ToolLists } from '../tools/tool-lists.ts';

/** Calls of a connection that have no response yet, by the ids of their requests. */
export class OpenCalls {
  /** Several calls have one id only if the client breaks the protocol: then the oldest is ended first. */
  readonly #byId = new Map<string, OpenCall[]>();
  readonly #recording = new Set<Promise<unknown>>();
  #lists: ToolLists | undefined;

  /** Returns the lists of tools that the connection has requested. */
  lists(tools: ServerTools): ToolLists {
    this.#lists ??= new ToolLists(tools);
    return this.#lists;
  }

  /** `true` if no call waits for a response. */
  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Adds a call. A notification is only awaited by {@link OpenCalls.recorded}. */
  add(call: OpenCall): void {
    if (call.id !== undefined) {
      const key = keyOfId(call.id);
      this.#byId.set(key, [...(this.#byId.get(key) ?? []), call]);
    }
    this.#recording.add(call.recorded);
    const forget = () => this.#recording.delete(call.recorded);
    void call.recorded.then(forget, forget);
  }

  /** Returns `true` if the call has no response yet. */
  has(call: OpenCall): boolean {
    return this.#byId.get(keyOfId(call.id))?.includes(call) ?? false;
  }

  /** Returns the call with an id; undefined if there is none. */
  get(id: unknown): OpenCall | undefined {
    return this.#byId.get(keyOfId(id))?.[0];
  }

  /** Returns the call with an id, and removes it. */
  take(id: unknown): OpenCall | undefined {
    const call = this.get(id);
    if (call) this.remove(call);
    return call;
  }

  /** Removes a call that has its response, or gets none. */
  remove(call: OpenCall): void {
    const key = keyOfId(call.id);
    const others = this.#byId.get(key)?.filter((other) => other !== call) ?? [];
    if (others.length > 0) this.#byId.set(key, others);
    else this.#byId.delete(key);
  }

  /** Returns all calls without a response. */
  all(): OpenCall[] {
    return [...this.#byId.values()].flat();
  }

  /** Resolves when all calls that have ended are recorded. */
  async recorded(): Promise<void> {
    await Promise.allSettled([...this.#recording]);
  }
}
