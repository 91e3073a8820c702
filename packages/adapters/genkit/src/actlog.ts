import { ActionDeniedError, type ApprovedChange } from '@actlog/recorder';
import {
  type AdapterOptions as ActlogOptions,
  type AdapterOptions,
  MethodHooks,
  ownName,
  refuseOptions,
  type WithoutOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import {
  type GenerateMiddleware,
  type GenerateMiddlewareDef,
  type GenerateRequest,
  type GenerateResponseData,
  generateMiddleware,
  type ToolRequestPart,
  type ToolResponsePart,
} from 'genkit';
import { type Coverage, coverages, createCoverage, isInterrupt } from './coverage.ts';
import { currentRequest, Generation, type Genkit } from './generation.ts';
import {
  type Action,
  type ActionFunction,
  deniedOutput,
  type RecordingHooks,
  type Registry,
  type RegistryClass,
  recordingHooks,
  rootOf,
  runTool,
} from './recording-hooks.ts';

/** Runs the model and the tools of a generation without middleware, so that its tool calls are recorded and guarded. */
class WrappedActions {
  readonly #generation: Generation;
  readonly #coverage: Coverage;
  readonly #hooks: RecordingHooks;
  #hasCalledModel = false;
  /** Tool calls of the model's last response. */
  #requests: readonly ToolRequestPart[] = [];
  readonly #begun = new WeakSet<ToolRequestPart>();

  constructor(generation: Generation, coverage: Coverage, hooks: RecordingHooks) {
    this.#generation = generation;
    this.#coverage = coverage;
    this.#hooks = hooks;
  }

  /** Returns a replacement for the function of an action; undefined for actions other than models and tools. */
  runnerOf(
    action: Action,
  ): ((run: ActionFunction, args: readonly unknown[]) => Promise<unknown>) | undefined {
    const { name, actionType } = action.__action;
    if (actionType === 'model') {
      return (run, args) => this.#generation.within(() => this.#runModel(run, args));
    }
    if (actionType !== 'tool' && actionType !== 'tool.v2' && actionType !== 'prompt') return undefined;
    const shortName = name.slice(name.lastIndexOf('/') + 1);
    return async (run, args) => {
      // Older versions of Genkit let a prompt take over the conversation, and pass it its input alone.
      const isHandover = actionType === 'prompt' && args.length < 2;
      try {
        const isMultipart = actionType === 'tool.v2';
        return await this.#generation.within(() => this.#runTool(shortName, isMultipart, run, args));
      } catch (error) {
        if (ActionDeniedError.isInstance(error) && !isHandover) {
          const output = deniedOutput(error);
          return actionType === 'tool.v2' ? { output } : output;
        }
        if (!isInterrupt(error)) this.#generation.fail(error);
        throw error;
      }
    };
  }

  async #runModel(run: ActionFunction, [input, context, ...more]: readonly unknown[]): Promise<unknown> {
    const request = input as GenerateRequest;
    const options = (context ?? {}) as { readonly abortSignal?: AbortSignal };
    const given = currentRequest();
    this.#hasCalledModel = true;
    this.#generation.begin({
      messages: given?.messages ?? request.messages,
      signal: options.abortSignal,
      returnsToolRequests: given?.returnToolRequests ?? false,
    });
    this.#generation.noteTexts();
    const response = await this.#hooks.model(
      request,
      options,
      (...args) => run(...args, ...more) as Promise<GenerateResponseData>,
    );
    const parts = response?.message?.content ?? [];
    this.#requests = parts.filter((part): part is ToolRequestPart => part.toolRequest !== undefined);
    return response;
  }

  async #runTool(
    name: string,
    isMultipart: boolean,
    run: ActionFunction,
    args: readonly unknown[],
  ): Promise<unknown> {
    const request = this.#requestOf(name, args[0]);
    let result: unknown;
    const runs = async (input: unknown, change?: ApprovedChange): Promise<ToolResponsePart> => {
      result = await (change ? run(input, ...args.slice(1)) : run(...args));
      const shown = isMultipart ? (result as { output?: unknown; content?: unknown }) : { output: result };
      return { toolResponse: { name, ref: request.toolRequest.ref, ...shown } } as ToolResponsePart;
    };
    await runTool(this.#calls(), this.#generation, request, runs);
    return result;
  }

  /** Returns the recorder of the next call. A tool that is started again runs before the model shows the signal. */
  #calls() {
    if (this.#hasCalledModel) return this.#coverage.calls;
    if (!this.#generation.hasTurn) {
      const messages = currentRequest()?.messages ?? [];
      this.#generation.begin({ messages, signal: undefined, returnsToolRequests: false });
    }
    return this.#coverage.callsWithoutSignal;
  }

  /** Returns the part of a message in which the model requested a call, which has the call's id. */
  #requestOf(name: string, input: unknown): ToolRequestPart {
    const requests = [...this.#requests, ...(currentRequest()?.resume?.restart ?? [])];
    const request = requests.find(
      (part) =>
        part.toolRequest.name === name && Object.is(part.toolRequest.input, input) && !this.#begun.has(part),
    );
    if (!request) return { toolRequest: { name, input } };
    this.#begun.add(request);
    return request;
  }
}

/**
 * Records every tool call that an application makes for its models, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const ai = actlog(genkit({ plugins }));
 * ```
 *
 * This covers each generation of `ai`: `generate`, `generateStream`, prompts, chats and agents, also inside flows, tools
 * and middleware, and if they were defined before. The hooks run in front of the middleware of a generation. A
 * generation with its own `actlog()` is covered by that alone. Of several calls for the same `ai`, the last applies to
 * generations from then on.
 *
 * @returns the same `ai`
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Instance extends Genkit>(
  ai: Instance & WithoutOptions,
  options?: ActlogOptions,
): Instance;
/**
 * Creates a middleware that does the same for one `generate`, `generateStream` or prompt, and for the generations within
 * its tools:
 *
 * ```ts
 * await ai.generate({ model, tools, prompt, use: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees each call once, even if inner middleware retries it.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(options?: ActlogOptions): ReturnType<GenerateMiddleware>;
export function actlog(
  target: Genkit | ActlogOptions = {},
  options?: ActlogOptions,
): Genkit | ReturnType<GenerateMiddleware> {
  if (!isGenkit(target)) {
    if (options === undefined) return recordMiddleware(target);
    throw new TypeError(
      'actlog: options are second only for an application, actlog(genkit(...), { guard }).',
    );
  }
  refuseOptions(target, 'actlog(ai, { guard })');
  coverages().applications.set(rootOf(target.registry as unknown as Registry), createCoverage(options ?? {}));
  hookGenerations(target);
  return target;
}

function isGenkit(target: Genkit | ActlogOptions): target is Genkit {
  return 'registry' in target && 'generate' in target;
}

/** Creates the middleware behind `actlog()`. */
function recordMiddleware(options: AdapterOptions = {}): ReturnType<GenerateMiddleware> {
  const coverage = createCoverage(options);
  // Genkit treats two middlewares with the same name as one, whatever their options.
  const name = ownName('genkit');
  const middleware = generateMiddleware({ name, description: 'Records and guards tool calls.' }, ({ ai }) => {
    coverages().own.add(ai.registry);
    hookGenerations(ai);
    return recordingHooks(new Generation(ai, coverage), coverage.calls);
  });
  return middleware();
}

/**
 * A generation that is covered from outside. If it has middleware of the user, the hooks run in front of it, as if
 * `actlog()` came first in its `use`. Without any, Genkit runs no middleware, so its model and its tools are wrapped
 * instead.
 */
class CoveredGeneration {
  readonly #registry: Registry;
  readonly #hooks: RecordingHooks;
  readonly #actions: WrappedActions;
  /** `true` if it has middleware, which may be `actlog()` itself. */
  #hasMiddleware = false;

  constructor(ai: Genkit, coverage: Coverage, registry: Registry) {
    const generation = new Generation(ai, coverage);
    this.#registry = registry;
    this.#hooks = recordingHooks(generation, coverage.calls);
    this.#actions = new WrappedActions(generation, coverage, this.#hooks);
  }

  /** Replaces what the generation looks up in its registry. */
  hookLookups(): void {
    const { lookupAction, lookupValue } = this.#registry;
    this.#registry.lookupAction = async (key) => {
      const action = await lookupAction.call(this.#registry, key);
      return action && this.#viewOfAction(action);
    };
    this.#registry.lookupValue = async (type, key) => {
      const value = await lookupValue.call(this.#registry, type, key);
      return type === 'middleware' && value ? this.#viewOfMiddleware(value) : value;
    };
  }

  #viewOfAction(action: Action): Action {
    const runner = this.#actions.runnerOf(action);
    if (!runner) return action;
    return new Proxy(action, {
      apply: (target, self, args: unknown[]) => {
        const run = (...changed: unknown[]) => Reflect.apply(target, self, changed);
        return this.#hasMiddleware ? run(...args) : runner(run, args);
      },
    });
  }

  #viewOfMiddleware(middleware: Partial<GenerateMiddleware>): object {
    const { instantiate } = middleware;
    if (!instantiate) return middleware;
    const instantiateBehind = (...args: Parameters<typeof instantiate>) => {
      const own = instantiate.apply(middleware, args);
      if (this.#hasMiddleware) return own;
      this.#hasMiddleware = true;
      const coversItself = () => coverages().own.has(this.#registry);
      return prependHooks(own, this.#hooks, coversItself);
    };
    return withMethods(middleware, { instantiate: instantiateBehind }, 'class-methods');
  }
}

const hookedMethods = new MethodHooks('@actlog/genkit/hooked-methods');

/**
 * Covers generations without `actlog()` in their `use`, in covered applications and within covered tool calls. Genkit
 * has no middleware for all generations, but each creates a registry.
 */
function hookGenerations(ai: Genkit): void {
  const registries = ai.registry.constructor as unknown as RegistryClass;
  hookedMethods.hook(registries, 'withParent', (owner: RegistryClass, withParent, args) => {
    const registry = withParent.apply(owner, args) as Registry;
    const { applications, surrounding } = coverages();
    const coverage = applications.get(rootOf(registry)) ?? surrounding.getStore();
    if (coverage) new CoveredGeneration(ai, coverage, registry).hookLookups();
    return registry;
  });
}

/**
 * Adds hooks in front of the hooks of a middleware, which keeps its tools.
 *
 * @param isOff - returns `true` while the hooks are to be left out
 */
function prependHooks(
  own: GenerateMiddlewareDef,
  hooks: RecordingHooks,
  isOff: () => boolean,
): GenerateMiddlewareDef {
  return {
    ...(own.tools && { tools: own.tools }),
    generate(envelope, context, next) {
      const inner: typeof next = async (...args) =>
        own.generate ? own.generate(...args, next) : next(...args);
      return isOff() ? inner(envelope, context) : hooks.generate(envelope, context, inner);
    },
    model(request, context, next) {
      const inner: typeof next = async (...args) => (own.model ? own.model(...args, next) : next(...args));
      return isOff() ? inner(request, context) : hooks.model(request, context, inner);
    },
    tool(request, context, next) {
      const inner: typeof next = async (...args) => (own.tool ? own.tool(...args, next) : next(...args));
      return isOff() ? inner(request, context) : hooks.tool(request, context, inner);
    },
  };
}
