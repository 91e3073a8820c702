import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/**
 * One call of a labeled run: tool, hash of the arguments, status (null if there was no response). In files with content
 * also the arguments, the text that the tool returned (null if the run ended first), and the turn of the model in which
 * it was called.
 */
export type LabeledCall = readonly [
  toolName: string,
  argumentsHash: string,
  responseStatus: number | null,
  args?: unknown,
  result?: string | null,
  turn?: number,
];

/** One recorded run of an agent, with its label. Only `events` may be scored; the rest is for judging. */
export interface LabeledRun {
  readonly id: string;
  readonly suite: string;
  readonly model: string;
  readonly kind: string;
  readonly user_task: string;
  readonly attack_succeeded: boolean | null;
  readonly events: readonly LabeledCall[];
  /** System prompt, in files with content. */
  readonly system?: string | null;
  /** Texts of the user, in files with content. */
  readonly user?: readonly string[];
}

/** `true` if a run contains its texts, from which the origins of arguments can be computed. */
export function hasContent(run: LabeledRun): boolean {
  return run.user !== undefined;
}

const GZIP = [0x1f, 0x8b];

/** Reads runs from a file of JSON lines, gzipped or not. Throws a `SyntaxError` that names an invalid line. */
export function readRuns(path: string): LabeledRun[] {
  const bytes = readFileSync(path);
  const text = (GZIP.every((byte, at) => bytes[at] === byte) ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as LabeledRun];
    } catch (error) {
      throw new SyntaxError(`${path}, line ${at + 1}: ${(error as Error).message}`);
    }
  });
}

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/gpt|\bo\d\b|openai|davinci|codex/i, 'openai'],
  [/gemini|gemma|palm|google/i, 'google'],
  [/command|cohere/i, 'cohere'],
  [/claude|anthropic/i, 'anthropic'],
  [/llama|meta/i, 'meta'],
  [/mistral|mixtral|codestral|magistral/i, 'mistral'],
  [/qwen|qwq/i, 'qwen'],
  [/deepseek/i, 'deepseek'],
  [/grok/i, 'xai'],
  [/nova|titan/i, 'amazon'],
  [/phi/i, 'microsoft'],
  [/kimi|moonshot/i, 'moonshot'],
  [/glm/i, 'zhipu'],
];

/** Returns the family of a model by its name; for unknown names, the first word. */
export function familyOf(model: string): string {
  const known = FAMILIES.find(([pattern]) => pattern.test(model));
  return (
    known?.[1] ??
    model
      .toLowerCase()
      .split(/[^a-z]+/)
      .find((word) => word !== '') ??
    model
  );
}

/** Class of a run: T1 compares `attacked` with `benign`, T2 compares it with `resisted`. */
export type RunClass = 'attacked' | 'resisted' | 'benign' | 'injectionAsUser';

/** Class of a run; undefined for runs that no test uses. */
export function classOf(run: LabeledRun): RunClass | undefined {
  if (run.kind === 'benign') return 'benign';
  if (run.kind === 'injection_as_user') return 'injectionAsUser';
  if (run.kind !== 'attack' || run.attack_succeeded === null) return undefined;
  return run.attack_succeeded ? 'attacked' : 'resisted';
}
