import { processWide } from './lib/process-wide.ts';

/** Receiver of process exit notifications. */
export interface ExitAware {
  /** Called when the event loop is empty. */
  beforeExit(): void;
  /** Called when the process exits; only synchronous work is done. */
  exit(): void;
}

/** Registered receivers and the process listeners that notify them. */
interface ExitHooks {
  readonly registered: Set<ExitAware>;
  readonly beforeExit: () => void;
  readonly exit: () => void;
}

/** Shared by all copies of this package (hot reload, a second version), because a listener per copy would be a leak. */
const exitHooks = processWide('@actlog/recorder/exit-hooks', (): ExitHooks => {
  const registered = new Set<ExitAware>();
  return {
    registered,
    beforeExit: () => {
      for (const one of [...registered]) safely(() => one.beforeExit());
    },
    exit: () => {
      for (const one of [...registered]) safely(() => one.exit());
    },
  };
});

/** Calls a receiver, whose error must not affect the others or the exit code. */
function safely(end: () => void): void {
  try {
    end();
  } catch (error) {
    console.warn(
      `[actlog] A recorder could not be closed at exit: ${error instanceof Error ? error.name : 'a value'}.`,
    );
  }
}

/**
 * Registers a receiver for the end of the process. All copies of this package share one listener. There is none for
 * signals or uncaught errors, so their handling and the exit code stay the user's.
 */
export function onExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.size === 0) {
    process.on('beforeExit', beforeExit);
    process.on('exit', exit);
  }
  registered.add(one);
}

/** Unregisters a receiver of {@link onExit}. */
export function offExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.delete(one) && registered.size === 0) {
    process.off('beforeExit', beforeExit);
    process.off('exit', exit);
  }
}
