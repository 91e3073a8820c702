/** What the end of the process matters to. */
export interface ExitAware {
  /** The event loop has run empty. */
  beforeExit(): void;
  /** The process ends now; only synchronous work is done. */
  exit(): void;
}

const registered = new Set<ExitAware>();

const beforeExit = (): void => {
  for (const one of [...registered]) safely(() => one.beforeExit());
};
const exit = (): void => {
  for (const one of [...registered]) safely(() => one.exit());
};

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
 * Has something told of the end of the process. There is one listener for all, and none for signals or uncaught
 * errors: what happens at those stays as the user has it, exit code included.
 */
export function onExit(one: ExitAware): void {
  if (registered.size === 0) {
    process.on('beforeExit', beforeExit);
    process.on('exit', exit);
  }
  registered.add(one);
}

/** Ends {@link onExit}. */
export function offExit(one: ExitAware): void {
  if (registered.delete(one) && registered.size === 0) {
    process.off('beforeExit', beforeExit);
    process.off('exit', exit);
  }
}
