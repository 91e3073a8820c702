/** Place of the settings that a hook is installed in. */
export interface HookPlace {
  /** `user` for all projects of the user, `project` for one. Default: `user`. */
  readonly scope?: 'user' | 'project' | undefined;
  /** Folder of the project. Default: the working directory. */
  readonly projectFolder?: string | undefined;
  /** Home of the user. Default: that of the system. */
  readonly homeFolder?: string | undefined;
}

/** Options of `installHook`. Options of the hook that are omitted are read from the environment when it runs. */
export interface InstallHookOptions extends HookPlace {
  /** `enforce` checks calls before they run. Default: `ACTLOG_GUARD` of the agent, else `off`. */
  readonly guard?: 'off' | 'enforce' | undefined;
  /** Decision without a response of the service. Default: `ACTLOG_GUARD_ON_UNAVAILABLE` of the agent. */
  readonly onUnavailable?: 'allow' | 'deny' | undefined;
  /** Time limit of a check, in seconds. Default 5. */
  readonly checkTimeoutSeconds?: number | undefined;
  /** Time to wait for a person's approval, in seconds. The agent's own time limit is set to match. Default 300. */
  readonly holdTimeoutSeconds?: number | undefined;
  /** Decision when nobody approved in time; `ask` shows the agent's own prompt. Default: `deny`. */
  readonly afterHold?: 'deny' | 'ask' | undefined;
  /** Id of the agent in events. Default: `ACTLOG_AGENT_ID` of the agent, else the agent's name. */
  readonly agentId?: string | undefined;
  /**
   * Arguments that the approver and conditions see: `*` for all, or paths such as `command,user.name`. Default: none.
   */
  readonly showArguments?: string | undefined;
  /** Absolute path of a file with `ACTLOG_*` variables, for agents that are not started from a shell. */
  readonly envFile?: string | undefined;
  /**
   * `absolute` starts the installed command by its path, `npx` by `npx actlog`, which works on other machines too but
   * takes 300 ms more for each event. Default: `absolute`, unless this process was itself started by npx.
   */
  readonly command?: 'absolute' | 'npx' | undefined;
  /** Path of the command `actlog`. Default: that of this process. */
  readonly script?: string | undefined;
}
