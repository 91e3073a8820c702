import { hash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxDenialsInARow, maxSameDenials } from '@actlog/recorder/short-lived';
import { namesIn } from './open-calls.ts';

/** Run within a session: its main thread, or one of its subagents. */
export interface HookThread {
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The agent's id of the subagent; empty for the main thread. */
  readonly subagentId: string;
  /** Type of the subagent, a word of the agent or the workspace; undefined for the main thread. */
  readonly subagent?: string | undefined;
}

/** A tool call, as reported by a hook of any agent. */
export interface HookCall extends HookThread {
  /** The agent's id of the call; undefined if the agent has none, so that the call is recognized by its arguments. */
  readonly callId: string | undefined;
  /** Name of the tool, as the model sees it. */
  readonly toolName: string;
  readonly arguments: unknown;
}

/** Returns a digest that is safe in a file name, because ids of agents may contain anything. */
export function digest(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 16);
}

/** Suffix of the files that count the denials of a call, and of a tool since a call of it was let through. */
const sameSuffix = '.same';
const inARowSuffix = '.row';

/**
 * Denials of one thread, counted in the sizes of files, to which processes append at the same time. A model that repeats
 * a denied call would otherwise never stop.
 */
export class Denials {
  readonly #folder: string;
  readonly #thread: string;

  /** @param folder - folder of the session, which exists */
  constructor(folder: string, thread: string) {
    this.#folder = folder;
    this.#thread = thread;
  }

  /**
   * Counts a denial.
   *
   * @returns `true` if the model has repeated itself so often that the run should end
   */
  count(toolName: string, argumentsHash: string): boolean {
    const same = this.#increment(this.#path(sameSuffix, toolName, argumentsHash));
    const inARow = this.#increment(this.#path(inARowSuffix, toolName));
    return same >= maxSameDenials || inARow >= maxDenialsInARow;
  }

  /** Resets the consecutive denials of a tool after an allowed call. */
  letThrough(toolName: string): void {
    rmSync(this.#path(inARowSuffix, toolName), { force: true });
  }

  /** Forgets all denials, after a new prompt. */
  clear(): void {
    for (const name of namesIn(this.#folder)) {
      const isCount = name.endsWith(sameSuffix) || name.endsWith(inARowSuffix);
      if (isCount && name.startsWith(`${this.#thread}.`)) rmSync(join(this.#folder, name), { force: true });
    }
  }

  #path(suffix: string, ...parts: readonly string[]): string {
    return join(this.#folder, `${this.#thread}.${digest(...parts)}${suffix}`);
  }

  #increment(path: string): number {
    try {
      appendFileSync(path, '.', { mode: 0o600 });
      return statSync(path).size;
    } catch {
      return 1; // The disk is full: the call is denied all the same.
    }
  }
}

/** Suffix of the files with the ids of actions that prompts hold. */
const promptSuffix = '.prompt';

/**
 * Actions of one session that the agent's own prompts hold, kept from the hook of a prompt to the hook that sees that it
 * was answered.
 */
export class PromptHolds {
  readonly #folder: string;

  /** @param folder - folder of the session */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Remembers the action that a prompt about a call holds.
   *
   * @throws the system's error when it cannot be written
   */
  add(thread: string, call: string, pendingActionId: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const name = `${thread}.${call}.${digest(pendingActionId)}${promptSuffix}`;
    writeFileSync(join(this.#folder, name), pendingActionId, { mode: 0o600 });
  }

  /**
   * Returns the actions that were held for the prompts of a session, of a thread or of a call, and forgets them.
   *
   * @param thread - digest of the thread; undefined for all
   * @param call - digest of the call; undefined for all
   */
  take(thread?: string, call?: string): string[] {
    const prefix = [thread, call].filter((part) => part !== undefined).map((part) => `${part}.`);
    return namesIn(this.#folder)
      .filter((name) => name.endsWith(promptSuffix) && name.startsWith(prefix.join('')))
      .flatMap((name) => {
        try {
          const id = readFileSync(join(this.#folder, name), 'utf8');
          rmSync(join(this.#folder, name));
          return [id];
        } catch {
          return []; // Another process was faster.
        }
      });
  }
}

/** A call and the status of its outcome. */
export interface EndedCall {
  readonly call: HookCall;
  /** HTTP status (`@actlog/recorder`, "responseStatus"). */
  readonly status: number;
}

/** An event of a hook, in the words that all agents share. */
export type HookEvent =
  /** A tool is about to run. */
  | { readonly kind: 'before'; readonly call: HookCall }
  /** The agent asks its user for the permission to run a tool. */
  | { readonly kind: 'prompt'; readonly call: HookCall }
  /** A tool has ended. */
  | ({ readonly kind: 'after' } & EndedCall)
  /**
   * All calls of a turn have ended. Calls that are still open were denied by the agent's permissions or by another
   * hook; the status counts for calls that no hook has reported.
   */
  | { readonly kind: 'turn'; readonly calls: readonly EndedCall[] }
  /** A new prompt, or the end of a subagent: calls of the thread that are still open were interrupted. */
  | { readonly kind: 'idle'; readonly thread: HookThread }
  | { readonly kind: 'session-start' }
  /** The session has ended, and its open calls with it. */
  | { readonly kind: 'session-end'; readonly sessionId: string }
  /** An event that is of no interest. */
  | { readonly kind: 'other' };
