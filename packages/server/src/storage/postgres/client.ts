import pg from 'pg';

/**
 * The driver's client. As it is made it reads the files that the address names, such as `sslrootcert`, and throws where
 * one cannot be read. The pool makes clients where nobody catches that, and the process would end. So it is the
 * connection that fails, and the next one reads the files again.
 */
export class PostgresClient extends pg.Client {
  readonly #unreadable: Error | undefined;

  constructor(config: pg.ClientConfig = {}) {
    const unreadable = whyUnreadable(config);
    super(unreadable ? {} : config);
    this.#unreadable = unreadable;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const unreadable = this.#unreadable;
    if (!callback) return unreadable ? Promise.reject(unreadable) : super.connect();
    if (unreadable) process.nextTick(callback, unreadable);
    else super.connect(callback);
    return undefined;
  }
}

function whyUnreadable(config: pg.ClientConfig): Error | undefined {
  try {
    new pg.Client(config);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
