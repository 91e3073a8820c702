import { createEventId, processWide } from '@actlog/recorder/adapter';

/** Maximum number of ids to remember; each is looked up when its run starts. */
const maxIds = 1000;

const ids = processWide('@actlog/langchain/generated-run-ids', () => new Set<string>());

/**
 * Returns the configuration of a run of `streamEvents` with a run id. LangChain would create one itself, which could not
 * be told from an id that the caller has chosen for the session.
 */
export function withGeneratedRunId<Config extends { readonly runId?: string | undefined }>(
  config: Config | undefined,
): Config | undefined {
  const { runId, version } = (config ?? {}) as { runId?: unknown; version?: unknown };
  // Version 3 does not create an id.
  if (runId !== undefined || (version !== 'v1' && version !== 'v2')) return config;
  const generated = createEventId(Date.now());
  ids().add(generated);
  if (ids().size > maxIds) ids().delete(ids().values().next().value as string);
  return { ...config, runId: generated } as Config;
}

/** Returns `true` for a run id that the caller has not chosen. */
export function isGeneratedRunId(runId: string | undefined): boolean {
  return runId !== undefined && ids().has(runId);
}
