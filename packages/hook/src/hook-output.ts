/** Output of a hook process. */
export interface HookOutput {
  /** JSON for the agent; undefined for none. */
  readonly stdout?: object;
  /** Text for the agent or its user. */
  readonly stderr?: string;
  readonly exitCode: number;
}

/** Output that leaves everything to the agent. */
export const noOutput: HookOutput = { exitCode: 0 };
