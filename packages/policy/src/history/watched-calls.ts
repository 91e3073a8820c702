import { Glob } from '../match/glob.ts';
import type { PolicyRule } from '../match/match-policy.ts';

/** Part of the history that a call belongs to, because a policy reads it. */
export interface WatchedCall {
  /** `true` if the call is kept in its session. */
  readonly inSession: boolean;
  /** `true` if the session is recorded as having read text of unknown authors. */
  readonly isUntrusted: boolean;
  /** `true` if its tool is kept for its agent. */
  readonly ofAgent: boolean;
  /** Arguments that are kept with the call. */
  readonly argumentNames: readonly string[];
}

interface Watch {
  readonly tools: readonly Glob[];
  readonly agentTools: readonly Glob[];
  readonly readsUntrusted: boolean;
  readonly argumentNames: readonly string[];
}

/** Calls that the active policies of a tenant read. Only their checks write to the history. */
export class WatchedCalls {
  readonly #watches: readonly Watch[];

  /** @param rules - rules of the active policies; those that read no history are ignored */
  constructor(rules: readonly PolicyRule[]) {
    this.#watches = rules.flatMap((rule) => {
      const reads = rule.condition?.history;
      if (!reads) return [];
      // The policy applies only to tools that its names match.
      const own = rule.match.tools ?? [new Glob('*')];
      const globs = (patterns: readonly (string | undefined)[]) =>
        patterns.flatMap((pattern) => (pattern === undefined ? own : [new Glob(pattern)]));
      const { readsUntrusted, argumentNames } = reads;
      return [
        { tools: globs(reads.tools), agentTools: globs(reads.agentTools), readsUntrusted, argumentNames },
      ];
    });
  }

  /**
   * Returns the part of the history that a call of a tool belongs to; undefined for none.
   *
   * @param readsUntrusted - `true` if the tool reads text of unknown authors
   */
  ofTool(toolName: string, readsUntrusted: () => boolean): WatchedCall | undefined {
    let inSession = false;
    let isUntrusted = false;
    let ofAgent = false;
    const argumentNames = new Set<string>();
    for (const watch of this.#watches) {
      if (watch.agentTools.some((glob) => glob.matches(toolName))) ofAgent = true;
      if (watch.readsUntrusted) isUntrusted ||= readsUntrusted();
      if (!watch.tools.some((glob) => glob.matches(toolName))) continue;
      inSession = true;
      for (const name of watch.argumentNames) argumentNames.add(name);
    }
    if (!inSession && !isUntrusted && !ofAgent) return undefined;
    return { inSession, isUntrusted, ofAgent, argumentNames: [...argumentNames] };
  }
}
