import pg from 'pg';

/**
 * The driver's client, with errors of its constructor reported by `connect`. The driver reads the files that the
 * address names, such as `sslrootcert`, in the constructor, and throws when one is unreadable. The pool constructs
 * clients where nothing catches that, which would end the process. The next connection reads the files again.
 */
export class PostgresClient extends pg.Client {
  readonly #configError: Error | undefined;

  constructor(config: pg.ClientConfig = {}) {
    const configError = configErrorOf(config);
    super(configError ? {} : config);
    this.#configError = configError;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const configError = this.#configError;
    if (!callback) return configError ? Promise.reject(configError) : super.connect();
    if (configError) process.nextTick(callback, configError);
    else super.connect(callback);
    return undefined;
  }
}

function configErrorOf(config: pg.ClientConfig): Error | undefined {
  try {
    new pg.Client(config);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
