import { setImmediate } from 'node:timers';
import { processWide } from '@actlog/recorder/adapter';

/** What is known of a call by its `tool_use` id. */
export interface ToolUse {
  readonly toolName: string;
  /** What the model gave; undefined while its stream is under way, and once its result has been taken. */
  readonly input: unknown;
  readonly sessionId: string | undefined;
}

/** An input that a tool did not take, whose call is not known yet. */
export interface RefusedInput {
  readonly toolName: string;
  readonly input: unknown;
  readonly recorder: object;
  readonly error: unknown;
}

/** Calls that are remembered at most: those that come with one answer, and those whose results are still out. */
const maxUses = 10_000;

/** The calls that messages told of, so that each is recorded once and in its session by whatever sees it first. */
class ToolUses {
  readonly #uses = new Map<string, ToolUse>();
  readonly #recorded = new Map<string, WeakSet<object>>();
  readonly #refused = new Set<RefusedInput>();
  #streams = 0;

  /** Whether a message streams in. Its reader may know a call a moment before it is known here. */
  get areStreaming(): boolean {
    return this.#streams > 0;
  }

  /** A message begins to stream in; what is returned is called when it has ended. */
  beginStream(): () => void {
    this.#streams += 1;
    return () => {
      this.#streams -= 1;
    };
  }

  /**
   * Waits until the calls are known here that streams have told their readers: `runToolsEagerly` runs a tool as soon as
   * its call is read, and the middleware sees that a moment later.
   */
  async caughtUp(): Promise<void> {
    if (this.areStreaming) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Keeps an input that a tool did not take until its call is known. */
  refuse(refused: RefusedInput): void {
    this.#refused.add(refused);
  }

  /** Gives up waiting for the call of an input. False where the call became known, and took it. */
  forget(refused: RefusedInput): boolean {
    return this.#refused.delete(refused);
  }

  /** What the tool of a call threw for its input, once. */
  takeRefused({ toolName, input }: ToolUse, recorder: object): RefusedInput | undefined {
    const text = JSON.stringify(input);
    for (const refused of this.#refused) {
      const fits = refused.toolName === toolName && refused.recorder === recorder;
      if (!fits || JSON.stringify(refused.input) !== text) continue;
      this.#refused.delete(refused);
      return refused;
    }
    return undefined;
  }

  find(id: string): ToolUse | undefined {
    return this.#uses.get(id);
  }

  /** Remembers a call that a new message asks for. */
  add(id: string, use: ToolUse): void {
    put(this.#uses, id, use);
  }

  /** Forgets who recorded an id: a new message uses it, as some services do again and again. */
  renew(id: string | undefined): void {
    if (id !== undefined) this.#recorded.delete(id);
  }

  /** Whether somebody has recorded the call. */
  isRecorded(id: string): boolean {
    return this.#recorded.has(id);
  }

  /** Whether this recorder is the first to ask for the call, and now has it. */
  claim(id: string, recorder: object): boolean {
    const recorders = this.#recorded.get(id) ?? new WeakSet();
    if (recorders.has(recorder)) return false;
    put(this.#recorded, id, recorders.add(recorder));
    return true;
  }

  /** Claims the call that has this input, where a hook is not told the id: the newest that nobody has recorded. */
  claimInput(
    toolName: string,
    input: unknown,
    recorder: object,
  ): (ToolUse & { readonly id: string }) | undefined {
    const text = JSON.stringify(input);
    for (const [id, use] of [...this.#uses].reverse()) {
      const fits = use.toolName === toolName && JSON.stringify(use.input) === text;
      if (fits && this.claim(id, recorder)) return { ...use, id };
    }
    return undefined;
  }
}

function put<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.delete(id);
  map.set(id, value);
  if (map.size > maxUses) map.delete(map.keys().next().value as string);
}

/** The calls of this process. */
export const toolUses: () => ToolUses = processWide('@actlog/anthropic/tool-uses', () => new ToolUses());
