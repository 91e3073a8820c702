import type { AdapterOptions } from '@actlog/recorder/adapter';

/** A tool of the suite. All take `{ text: string }`, which the harness converts to the framework's own schema. */
export interface SuiteTool {
  readonly name: string;
  /** Function of the tool. `signal` is the signal that the framework passes to its tools, if any. */
  readonly run: (args: { readonly text: string }, signal?: AbortSignal) => Promise<string>;
}

/** A tool call of the scripted model. */
export interface ScriptedCall {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
}

/** One run of an agent. */
export interface Scenario {
  readonly tools: readonly SuiteTool[];
  /** Calls of the scripted model: one inner list per turn. Afterwards it says `done`. */
  readonly turns: readonly (readonly ScriptedCall[])[];
  /** The user's message. Default `go`. */
  readonly userText?: string | undefined;
  /** System prompt or instructions of the agent, passed to the framework in its own way. Default: none. */
  readonly systemText?: string | undefined;
  /** Thread, session or conversation, passed to the framework in its own way. */
  readonly sessionId: string;
  /** Options of the adapter; undefined runs the agent without it. */
  readonly adapter?: AdapterOptions | undefined;
  /** Installs the adapter twice, as a user of the framework might by mistake. */
  readonly isInstalledTwice?: boolean;
  /** Uses the framework's streaming API. */
  readonly isStreamed?: boolean;
  /** Ends the run early, if the framework accepts a signal. */
  readonly signal?: AbortSignal;
  /** Keeps the framework's default limit on turns. Default: the limit is raised to fit all turns. */
  readonly keepsTurnLimit?: boolean;
  /** Function to be called from a user hook of the same kind as the adapter's. */
  readonly ownHook?: (toolName: string) => void;
}

/** A chat whose messages the application keeps. */
export interface Chat {
  /** The only tool of the agent. */
  readonly tool: SuiteTool;
  /**
   * Texts of the user, one per turn. In each turn the scripted model calls the tool once with that text, and then
   * says `done`.
   */
  readonly texts: readonly string[];
  /** Options of the adapter, without a session. */
  readonly adapter: AdapterOptions;
}

/** End of a run. */
export interface Ending {
  /** Tool results for the model, in the order of the conversation; no stack traces. */
  readonly toolResults: readonly { readonly text: string; readonly isError: boolean }[];
  /** Result of the run, such as the model's final text. */
  readonly finalText?: string | undefined;
  /** Error thrown by the run. */
  readonly error?: unknown;
}

/** Sources of arguments that the adapter sees. What it does not see is reported as `model`. */
export interface SeenOrigins {
  /** `true` if it sees what the user wrote. */
  readonly user: boolean;
  /** `true` if it sees the system prompt. */
  readonly system: boolean;
  /** `true` if it sees the results of calls. */
  readonly results: boolean;
}

/**
 * Abilities that the framework's hook gives the adapter. The suite verifies each, and the table in the docs is
 * generated from them.
 */
export interface Abilities {
  /** `true` if a call can be stopped before it runs. */
  readonly guards: boolean;
  /** `true` if a call can wait for a person; otherwise one that needs approval is denied at once. */
  readonly holds: boolean;
  /** `true` if the run accepts a signal that the adapter sees while a call is held. */
  readonly aborts: boolean;
  /** Status of a call with invalid arguments; `unseen` if no hook is called. */
  readonly invalidArguments: number | 'unseen';
  /** Status of a call of an unknown tool; `unseen` if no hook is called. */
  readonly unknownTool: number | 'unseen';
  /** Status of a tool that throws an error with `status: 502`: 500 if the framework hides the error. */
  readonly thrown: number;
  /** `true` if the adapter knows that a tool ran, so that an error of what the tool calls is no error of the model's. */
  readonly knowsReached: boolean;
  /** Status of a call whose tool throws after the caller's signal has aborted. Applies if `aborts`. */
  readonly aborted: number;
  /** The same if the signal's reason is a timeout, as with `AbortSignal.timeout()`. */
  readonly timedOut: number;
  /** `true` if tools run in the async context of the hook; `false` if an agent elsewhere runs them. */
  readonly runsTools: boolean;
  /** `true` if the framework has a streaming API. */
  readonly streams: boolean;
  /** `true` if users of the framework have hooks of the same kind. */
  readonly hasOwnHooks: boolean;
  /** `true` if the framework has a thread or session id that the adapter sees. */
  readonly hasSession: boolean;
  /** `true` if a denial becomes a tool result, after which the run continues. */
  readonly goesOnAfterDenial: boolean;
  /**
   * Maximum number of denials of one repeated call before the run ends, by the framework's own limit or the
   * adapter's; `caller` for loops that the user writes and ends.
   */
  readonly maxDenials: number | 'caller';
  /** Sources of arguments that the adapter sees, for the recorder's option `origins`. */
  readonly origins: SeenOrigins;
  /**
   * `true` if the tool runs with the arguments that an approver changed, `noticed` if the model is told, too; otherwise an
   * approval with changes is refused. Applies if `holds`.
   */
  readonly changes: boolean | 'noticed';
}

/** All abilities but the texts for origins. A harness names only those in which its framework differs. */
export const fullAbilities: Abilities = {
  guards: true,
  holds: true,
  aborts: true,
  invalidArguments: 400,
  unknownTool: 404,
  thrown: 502,
  knowsReached: true,
  aborted: 499,
  timedOut: 408,
  runsTools: true,
  streams: true,
  hasOwnHooks: true,
  hasSession: true,
  goesOnAfterDenial: true,
  maxDenials: 5,
  origins: { user: false, system: false, results: true },
  changes: true,
};

/** Properties that an adapter provides to be tested. */
export interface AdapterHarness {
  /** Value of `x-service-framework`. */
  readonly framework: string;
  /** Text before the client's own in `x-service-sdk`. */
  readonly sdk: string;
  /** Name of the adapter's hook that the harness uses, as known to users. */
  readonly hook?: string | undefined;
  readonly abilities: Abilities;
  /** Runs an agent of the real framework with a scripted model. Never throws: the error of the run is in the ending. */
  run(scenario: Scenario): Promise<Ending>;
  /**
   * Runs a chat. Before each turn, the messages of all earlier turns are rebuilt from JSON, as if they came with a
   * request or from a store, and the framework gets no thread or session. The first turn is run as the framework's own
   * examples run it. Undefined for frameworks that are not passed the messages of earlier turns.
   */
  readonly chat?: ((chat: Chat) => Promise<unknown>) | undefined;
}
