/** One request of the script. `$name` in a path or a body stands for a value of an earlier response. */
export interface Step {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Raw body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of the response to remember, by name. */
  readonly keep?: Readonly<Record<string, string>>;
}

/** Returns a request to read. */
export const get = (path: string, keep?: Step['keep']): Step => ({
  method: 'GET',
  path,
  ...(keep && { keep }),
});

/** Returns a request with a body. */
export const post = (path: string, body: unknown, keep?: Step['keep']): Step => ({
  method: 'POST',
  path,
  body,
  ...(keep && { keep }),
});

/** Returns a request to change. */
export const patch = (path: string, body: unknown): Step => ({ method: 'PATCH', path, body });

/** Returns a check of a tool; `also` replaces fields of the body. */
export type Check = (toolName: string, also?: object, keep?: Step['keep']) => Step;

/** Makes a check a dry run. */
export const dry: Pick<Step, 'headers'> = { headers: { prefer: 'dry-run' } };
