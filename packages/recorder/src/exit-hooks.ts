import { processWide } from './process-wide.ts';

/** What the end of the process matters to. */
export interface ExitAware {
  /** The event loop has run empty. */
  beforeExit(): void;
  /** The process ends now; only synchronous work is done. */
  exit(): void;
}

/** All that is told, and the listeners that tell it. */
interface ExitHooks {
  readonly registered: Set<ExitAware>;
  readonly beforeExit: () => void;
  readonly exit: () => void;
}

/** Hot reload, or a second version, loads further copies of this package: a listener for each would be a leak. */
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

/** What one throws must not keep the others from ending, nor change the exit code. */
function safely(end: () => void): void {
  try {
    end();
  } catch (error) {
    console.warn(
      `[actlog] A recorder could not be ended: ${error instanceof Error ? error.name : 'a value'}.`,
    );
  }
}

/**
 * Has something told of the end of the process. There is one listener for all, whichever copy of this package they come
 * from, and none for signals or uncaught errors: what happens at those stays as the user has it, exit code included.
 */
export function onExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.size === 0) {
    process.on('beforeExit', beforeExit);
    process.on('exit', exit);
  }
  registered.add(one);
}

/** Ends {@link onExit}. */
export function offExit(one: ExitAware): void {
  const { registered, beforeExit, exit } = exitHooks();
  if (registered.delete(one) && registered.size === 0) {
    process.off('beforeExit', beforeExit);
    process.off('exit', exit);
  }
}
