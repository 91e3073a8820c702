import { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type HookedCall,
  TargetHooks,
  targetHooks,
  withMethods,
} from '@actlog/recorder/adapter';
import { type ActlogOptions, a2aCalls } from './a2a-calls.ts';
import { callOfClient, type ServerContext } from './caller-session.ts';
import { type MessageRequest, messageArguments } from './message-arguments.ts';
import { type AgentResponse, ResponseInProgress, type ResponseTask, taskStates } from './response.ts';

const brand = Symbol.for('@actlog/a2a/executor');

/** An `AgentExecutor` of `@a2a-js/sdk/server`. */
export interface A2aExecutor {
  execute(...args: never[]): Promise<void>;
  cancelTask(...args: never[]): Promise<void>;
}

interface EventBus {
  publish(event: {
    readonly kind: 'message' | 'task' | 'statusUpdate' | 'artifactUpdate';
    readonly data: object;
  }): void;
}

interface RequestContext {
  readonly request: MessageRequest;
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: object;
  readonly context?: ServerContext;
  readonly task?: ResponseTask;
}

/** Internals of an executor. */
interface Executor {
  execute(context: RequestContext, bus: EventBus): Promise<void>;
  cancelTask(taskId: string, bus: EventBus): Promise<void>;
}

type ExecutorHooks = TargetHooks<ActlogOptions>;

/** Records and guards every message that an agent receives. */
export function recordExecutor(target: A2aExecutor, options: ActlogOptions): void {
  const executor = target as unknown as Executor;
  const wrap = (hooks: ExecutorHooks) => wrapExecutor(executor, hooks, options.name ?? 'receive_message');
  targetHooks(executor, brand, wrap, () => new TargetHooks(a2aCalls)).add(options);
}

/** A message that the agent works on. */
class Execution {
  readonly progress: ResponseInProgress;
  readonly #context: RequestContext;
  readonly #abort = new AbortController();
  #hasStarted = false;

  constructor(context: RequestContext, recorders: readonly AdapterCalls[]) {
    this.#context = context;
    this.progress = new ResponseInProgress(recorders.some(({ tracesOrigins }) => tracesOrigins));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** `true` once the executor has received the message. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Runs the executor, and returns its response. */
  async run(execute: () => Promise<void>): Promise<AgentResponse> {
    this.#hasStarted = true;
    await execute();
    return this.progress.response;
  }

  cancel(): void {
    this.#abort.abort(abandonedCall('The task was canceled.'));
  }

  /** Returns the bus, for publishing events that count as the response to the message. */
  watched(bus: EventBus): EventBus {
    return withMethods(bus, {
      publish: (event: Parameters<EventBus['publish']>[0]) => {
        this.progress.add(event?.kind, event?.data);
        bus.publish(event);
      },
    });
  }

  /** Ends the task without the executor. */
  publishEnd(bus: EventBus, state: number, text: string): void {
    const { taskId, contextId, task, userMessage } = this.#context;
    const message = {
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: 2, // ROLE_AGENT
      parts: [
        {
          content: { $case: 'text', value: text },
          metadata: undefined,
          filename: '',
          mediaType: 'text/plain',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const status = { state, message, timestamp: new Date().toISOString() };
    const started = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
    const data = { ...(task ?? started), status };
    bus.publish({ kind: 'task', data });
    // The SDK's queue of events ends with an update of the status, not with a task.
    bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status, metadata: undefined } as object });
  }
}

function wrapExecutor(executor: Executor, hooks: ExecutorHooks, toolName: string): void {
  const { execute, cancelTask } = executor;
  /** Executions by their task, which may get a message while another is held. */
  const running = new Map<string, Set<Execution>>();
  executor.execute = async (context, bus) => {
    const recorders = hooks.recordersOf(toolName);
    const execution = new Execution(context, recorders);
    const { taskId, contextId } = context;
    const call: HookedCall = {
      toolName,
      arguments: messageArguments(context.request ?? {}, context.task?.id),
      callId: crypto.randomUUID(),
      sessionId: callOfClient(context.context, recorders)?.sessionId ?? contextId,
      signal: execution.signal,
    };
    const ofTask = running.get(taskId) ?? new Set();
    running.set(taskId, ofTask.add(execution));
    try {
      await hooks.run(call, () =>
        execution.run(() => execute.call(executor, context, execution.watched(bus))),
      );
    } catch (error) {
      if (execution.hasStarted) throw error;
      if (ActionDeniedError.isInstance(error)) execution.publishEnd(bus, taskStates.rejected, error.message);
      else if (execution.signal.aborted) {
        execution.publishEnd(bus, taskStates.canceled, 'The task was canceled before the agent received it.');
      } else throw error;
    } finally {
      ofTask.delete(execution);
      if (ofTask.size === 0) running.delete(taskId);
    }
  };
  executor.cancelTask = async (taskId, bus) => {
    const executions = [...(running.get(taskId) ?? [])];
    for (const execution of executions) execution.cancel();
    const started = executions.filter(({ hasStarted }) => hasStarted);
    // The executor does not know a task that is still held.
    if (executions.length > 0 && started.length === 0) return;
    const watched = started.reduce((seen, execution) => execution.watched(seen), bus);
    await cancelTask.call(executor, taskId, watched);
  };
}
