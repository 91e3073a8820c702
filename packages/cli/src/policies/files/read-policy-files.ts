import { schemaRefusal } from '@actlog/policy';
import type * as z from 'zod';
import { UsageError } from '../../errors/usage-error.ts';
import { readInput } from '../../options/read-json.ts';
import { findPolicyFiles } from './find-policy-files.ts';
import { filePolicy, type PoliciesFile, policiesFile } from './policies-file.ts';
import { type FileProblem, PolicyFileError } from './policy-file-error.ts';
import type { Placed, PlacedPolicy, PlacedTest, PolicyFiles } from './policy-files.ts';
import { contradictionsIn, duplicatesIn } from './policy-problems.ts';
import { SourceFile } from './source-file.ts';

/** Forms of a file: an object with policies and tests, a list of policies, and one policy. */
type Form = 'file' | 'list' | 'policy';

/**
 * Reads and validates policy files.
 *
 * @param paths - files and folders; `policies` if there are none
 * @throws UsageError when a file cannot be read, or no file has a list of policies
 * @throws PolicyFileError with all problems of the files, with file, line and column
 */
export async function readPolicyFiles(paths: readonly string[]): Promise<PolicyFiles> {
  const problems: FileProblem[] = [];
  const policies: PlacedPolicy[] = [];
  const tests: PlacedTest[] = [];
  let hasPolicies = false;
  const files = findPolicyFiles(paths);
  for (const file of files) {
    const source = new SourceFile(file === '-' ? 'standard input' : file, await readInput(file));
    const read = readFile(source, problems);
    hasPolicies ||= read?.policies !== undefined;
    policies.push(...(read?.policies ?? []));
    tests.push(...(read?.tests ?? []));
  }
  problems.push(...duplicatesIn(policies));
  if (problems.length > 0) throw new PolicyFileError(problems);
  // An empty list is a statement; no list at all is a wrong path.
  if (!hasPolicies)
    throw new UsageError(`There are no policies in ${files.join(', ')}: add a list "policies".`);
  return { policies, tests };
}

function readFile(source: SourceFile, problems: FileProblem[]): Partial<PolicyFiles> | undefined {
  if (source.problems.length > 0) {
    problems.push(...source.problems);
    return undefined;
  }
  const value = contentOf(source, problems);
  if (value === undefined) return undefined;
  const form = formOf(value);
  if (form === undefined) {
    const message =
      'must contain an object with "policies" or "tests", a list of policies, or one policy with a "name"';
    problems.push({ position: source.positionOf([]), message });
    return undefined;
  }
  const result = parse(form, value);
  if (!result.success) {
    problems.push(...result.error.issues.flatMap((issue) => problemsOf(source, issue)));
    return undefined;
  }
  const { policies, tests } = result.data;
  const base = { file: ['policies'], list: [], policy: [] }[form];
  const placed = policies?.map((policy, index) => {
    const place = placeOf(source, form === 'policy' ? base : [...base, index]);
    return { policy, ...place };
  });
  for (const one of placed ?? []) problems.push(...contradictionsIn(one));
  return {
    ...(placed && { policies: placed }),
    tests: (tests ?? []).map((test, index) => ({ test, ...placeOf(source, ['tests', index]) })),
  };
}

function contentOf(source: SourceFile, problems: FileProblem[]): unknown {
  try {
    return source.toValue();
  } catch (error) {
    problems.push({ position: source.positionOf([]), message: (error as Error).message });
    return undefined;
  }
}

function formOf(value: unknown): Form | undefined {
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'object' || value === null) return undefined;
  if ('policies' in value || 'tests' in value) return 'file';
  return 'name' in value || 'effect' in value ? 'policy' : undefined;
}

function parse(form: Form, value: unknown): z.ZodSafeParseResult<PoliciesFile> {
  if (form === 'file') return policiesFile.safeParse(value);
  const result = form === 'list' ? filePolicy.array().safeParse(value) : filePolicy.safeParse(value);
  if (!result.success) return result as z.ZodSafeParseError<never>;
  return { success: true, data: { policies: [result.data].flat() } };
}

function placeOf(source: SourceFile, base: readonly PropertyKey[]): Placed {
  return {
    position: source.positionOf(base),
    positionOf: (path, offset) =>
      offset === undefined
        ? source.positionOf([...base, ...path])
        : source.positionIn([...base, ...path], offset),
  };
}

/** Returns the problems of a broken rule of the schema, worded as the service words them. */
function problemsOf(source: SourceFile, issue: z.core.$ZodIssue): FileProblem[] {
  const { details = [] } = schemaRefusal('body', [issue]);
  const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
  return details.map(({ path, message }, index) => {
    const key = keys[index];
    const position =
      key === undefined ? source.positionOf(issue.path) : source.positionOfKey(issue.path, key);
    return { position, message: path === '' ? message : `${path}: ${message}` };
  });
}
