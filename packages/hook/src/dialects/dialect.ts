import type { HookEvent } from '../hook-event.ts';
import type { HookOutput } from '../hook-output.ts';

/** Protocol of an agent's hooks: events in, decisions out. */
export interface Dialect {
  /**
   * `true` if the agent reports ended calls once more, so that they are remembered until the next prompt: Claude Code with
   * all calls of a turn, Cursor as the failure of a call that was denied.
   */
  readonly reportsEndedCalls: boolean;
  /**
   * Parses an event.
   *
   * @param input - JSON from the agent
   * @param eventName - name given on the command line, for agents whose JSON does not contain it
   * @throws InvalidInputError when the input is not of the documented form
   */
  parse(input: unknown, eventName: string | undefined): HookEvent;
  /**
   * Exit code with which a hook before a tool reports its own failure, and the call still runs: 1, except for agents that
   * deny a call for any other exit code than 0.
   */
  readonly openFailureExitCode: 0 | 1;
  /** Output that lets a call through to the agent's own permissions. */
  readonly pass: HookOutput;
  /** Output for all other events, if the agent expects one. */
  readonly proceed?: HookOutput;
  /**
   * Creates the output that denies a call.
   *
   * @param reason - text for the model
   * @param stopReason - text for the user, if the run is to end; undefined if it goes on
   */
  deny(reason: string, stopReason?: string): HookOutput;
  /**
   * Creates the output that asks the user at the agent's own prompt. Missing if the agent has no such decision, in which
   * case the call is denied.
   */
  ask?(reason: string): HookOutput;
  /** Creates the output that shows a message to the user at the start of a session. Missing if the agent cannot. */
  notify?(message: string): HookOutput;
}
