import { processWidePerOwner } from '../lib/process-wide.ts';

/** Method of any object. */
export type Method<Result = unknown> = (...args: unknown[]) => Result;

/**
 * Methods of a framework's classes that an adapter replaces. Each is replaced once in a process, by whichever copy of
 * the adapter is first.
 */
export class MethodHooks {
  readonly #originals: (prototype: object) => Map<PropertyKey, Method>;

  /** @param name - name for all copies of the adapter, such as `@actlog/langchain/hooked-methods` */
  constructor(name: string) {
    this.#originals = processWidePerOwner(name, () => new Map());
  }

  /**
   * Replaces a method, unless it is replaced already.
   *
   * @param prototype - object that has or inherits the method
   * @param hook - receives the object that the method is called on, the original and the arguments
   */
  hook<Target extends object, Result>(
    prototype: Target,
    method: keyof Target & (string | symbol),
    hook: (target: never, original: Method<Result>, args: unknown[]) => Result,
  ): void {
    const originals = this.#originals(prototype);
    if (originals.has(method)) return;
    const original = prototype[method] as Method<Result>;
    originals.set(method, original);
    const value = function (this: never, ...args: unknown[]) {
      return hook(this, original, args);
    };
    Object.defineProperty(prototype, method, { configurable: true, writable: true, value });
  }

  /** Returns the original of a replaced method; undefined for any other. */
  original<Target extends object>(
    prototype: Target,
    method: keyof Target & (string | symbol),
  ): Method | undefined {
    return this.#originals(prototype).get(method);
  }
}
