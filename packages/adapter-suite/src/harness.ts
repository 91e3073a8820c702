import type { AdapterOptions } from '@actlog/recorder/adapter';

/** A tool of the suite. All take `{ text: string }`, which the harness puts in the framework's own schema. */
export interface SuiteTool {
  readonly name: string;
  /** The body. `signal` is what the framework gives its tools, where it gives one. */
  readonly run: (args: { readonly text: string }, signal?: AbortSignal) => Promise<string>;
}

/** A tool call that the scripted model makes. */
export interface ScriptedCall {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
}

/** One run of an agent. */
export interface Scenario {
  readonly tools: readonly SuiteTool[];
  /** What the scripted model calls: one inner list a turn. Afterwards it says `done`. */
  readonly turns: readonly (readonly ScriptedCall[])[];
  /** The thread, session or conversation, told to the framework in its own way. */
  readonly sessionId: string;
  /** The adapter's options; undefined runs the agent without the adapter. */
  readonly adapter?: AdapterOptions | undefined;
  /** Puts the adapter in twice, in whatever way a user of the framework might do by mistake. */
  readonly isInstalledTwice?: boolean;
  /** Takes the framework's streaming way through the run. */
  readonly isStreamed?: boolean;
  /** Ends the run early, where the framework takes a signal. */
  readonly signal?: AbortSignal;
  /** To be called from a hook of the user's own, of the kind that the adapter uses too. */
  readonly ownHook?: (toolName: string) => void;
}

/** How a run ended. */
export interface Ending {
  /** What the model was told by its tools, in the order of the conversation; no stack traces. */
  readonly answers: readonly { readonly text: string; readonly isError: boolean }[];
  /** What the run gave back, such as the model's last words. */
  readonly finalText?: string | undefined;
  /** What the run threw instead. */
  readonly error?: unknown;
}

/** What the framework's hook lets the adapter do. The suite proves each, and the table of the docs is made from them. */
export interface Abilities {
  /** Whether a call can be stopped before it runs. */
  readonly guards: boolean;
  /** Whether a call can wait for a person; where it cannot, one that needs approval is denied at once. */
  readonly holds: boolean;
  /** Whether the run takes a signal that the adapter sees while a call is held. */
  readonly aborts: boolean;
  /** Status of a call whose arguments do not fit the tool; `unseen` where no hook hears of it. */
  readonly invalidArguments: number | 'unseen';
  /** Status of a call of a tool that is not there; `unseen` where no hook hears of it. */
  readonly unknownTool: number | 'unseen';
  /** Status of a tool that throws an error with `status: 502`: 500 where the framework hides the error. */
  readonly thrown: number;
  /** Whether the framework has a streaming way. */
  readonly streams: boolean;
  /** Whether users of the framework have hooks of the same kind. */
  readonly hasOwnHooks: boolean;
  /** Whether the framework has a thread or session id that the adapter sees. */
  readonly hasSession: boolean;
  /** Whether a denial is an answer to the model, after which the run goes on. */
  readonly goesOnAfterDenial: boolean;
}

/** All that a framework's hook can allow. A harness names only where its framework differs. */
export const fullAbilities: Abilities = {
  guards: true,
  holds: true,
  aborts: true,
  invalidArguments: 400,
  unknownTool: 404,
  thrown: 502,
  streams: true,
  hasOwnHooks: true,
  hasSession: true,
  goesOnAfterDenial: true,
};

/** What an adapter fills in to prove itself. */
export interface AdapterHarness {
  /** Sent as `x-service-framework`. */
  readonly framework: string;
  /** Sent in front of the client's own in `x-service-sdk`. */
  readonly sdk: string;
  /** Which of the adapter's hooks the harness goes through, as users name it. */
  readonly hook?: string | undefined;
  readonly abilities: Abilities;
  /** Runs an agent of the real framework with a scripted model. Never throws: what the run throws is in the ending. */
  run(scenario: Scenario): Promise<Ending>;
}
