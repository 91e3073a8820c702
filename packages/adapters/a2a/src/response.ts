import { toolContent } from '@actlog/recorder/adapter';

/** Part of a message or artifact. */
export interface Part {
  readonly content?:
    | { readonly $case: 'text'; readonly value: string }
    | { readonly $case: 'raw'; readonly value: Uint8Array }
    | { readonly $case: 'url'; readonly value: string }
    | { readonly $case: 'data'; readonly value: unknown }
    | undefined;
  readonly filename?: string;
  readonly mediaType?: string;
}

interface Artifact {
  readonly artifactId: string;
  readonly parts: readonly Part[];
}

interface TaskStatus {
  readonly state: number;
  readonly message?: { readonly parts: readonly Part[] } | undefined;
}

/** A message with which an agent responds. */
export interface ResponseMessage {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly parts: readonly Part[];
}

/** A task with which an agent responds. */
export interface ResponseTask {
  readonly id: string;
  readonly contextId: string;
  readonly status?: TaskStatus | undefined;
  readonly artifacts?: readonly Artifact[];
}

/** Response of an agent; undefined if it has not responded. */
export type AgentResponse = ResponseMessage | ResponseTask | undefined;

/** Kinds of what an agent sends while it works, in streams and on the event bus. */
interface UpdatesByKind {
  readonly message: ResponseMessage;
  readonly task: ResponseTask;
  readonly statusUpdate: {
    readonly taskId: string;
    readonly contextId: string;
    readonly status?: TaskStatus;
  };
  readonly artifactUpdate: { readonly artifact?: Artifact; readonly append?: boolean };
}

/** States of a task (A2A specification, "TaskState"). */
export const taskStates = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
  rejected: 7,
  authRequired: 8,
} as const;

const statusesByState: ReadonlyMap<unknown, number> = new Map([
  [taskStates.submitted, 202],
  [taskStates.working, 202],
  [taskStates.inputRequired, 202],
  [taskStates.completed, 200],
  [taskStates.authRequired, 401],
  [taskStates.rejected, 403],
  [taskStates.canceled, 499],
  [taskStates.failed, 500],
]);

const finalStates: ReadonlySet<unknown> = new Set([
  taskStates.completed,
  taskStates.failed,
  taskStates.canceled,
  taskStates.rejected,
]);

/**
 * Returns the status of a response: 200 for a message, otherwise by the state of the task. A state of a later version
 * of the protocol is 202, because it is not known to be an end. No response at all is a failure.
 */
export function statusOfResponse(response: AgentResponse): number {
  if (!response) return 500;
  if ('messageId' in response) return 200;
  return statusesByState.get(response.status?.state) ?? 202;
}

/** Returns what a model sees of a response: its text, parsed where it is JSON, and its data. */
export function contentOfResponse(response: AgentResponse): unknown {
  if (!response) return undefined;
  const parts =
    'messageId' in response
      ? response.parts
      : [
          ...(response.artifacts ?? []).flatMap((artifact) => artifact.parts),
          ...(response.status?.message?.parts ?? []),
        ];
  const shown = parts.flatMap(({ content }) => {
    if (content?.$case === 'text') return [toolContent([{ type: 'text', text: content.value }])];
    return content?.$case === 'data' ? [content.value] : [];
  });
  return shown.length === 1 ? shown[0] : shown;
}

/** Response of an agent as it comes in parts. */
export class ResponseInProgress {
  readonly #keepsArtifacts: boolean;
  readonly #artifacts = new Map<string, { readonly artifactId: string; readonly parts: Part[] }>();
  #response: AgentResponse;

  /** @param keepsArtifacts - `false` keeps only the state, because artifacts may be large */
  constructor(keepsArtifacts: boolean) {
    this.#keepsArtifacts = keepsArtifacts;
  }

  /** Adds what the agent sent next. */
  add<Kind extends keyof UpdatesByKind>(kind: Kind | undefined, update: unknown): void {
    if (typeof update !== 'object' || update === null) return;
    if (kind === 'message') this.#response = update as ResponseMessage;
    if (kind === 'task') this.#addTask(update as ResponseTask);
    if (kind === 'statusUpdate') this.#addStatus(update as UpdatesByKind['statusUpdate']);
    if (kind === 'artifactUpdate') this.#addArtifact(update as UpdatesByKind['artifactUpdate']);
  }

  /** The response so far. */
  get response(): AgentResponse {
    const response = this.#response;
    if (!response || 'messageId' in response) return response;
    return { ...response, artifacts: [...this.#artifacts.values()] };
  }

  /** `true` if nothing that changes the outcome can follow. */
  get isFinal(): boolean {
    const response = this.#response;
    if (!response) return false;
    return 'messageId' in response || finalStates.has(response.status?.state);
  }

  #addTask({ artifacts = [], ...task }: ResponseTask): void {
    this.#response = task;
    this.#artifacts.clear();
    for (const artifact of artifacts) this.#addArtifact({ artifact });
  }

  #addStatus({ taskId, contextId, status }: UpdatesByKind['statusUpdate']): void {
    const task = this.#response && 'id' in this.#response ? this.#response : { id: taskId, contextId };
    this.#response = { ...task, status };
  }

  #addArtifact({ artifact, append }: UpdatesByKind['artifactUpdate']): void {
    if (!artifact || !this.#keepsArtifacts) return;
    const { artifactId, parts = [] } = artifact;
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known) known.parts.push(...parts);
    else this.#artifacts.set(artifactId, { ...artifact, parts: [...parts] });
  }
}
