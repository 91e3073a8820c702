import { sharedRecorder } from '@actlog/recorder';
import { vi } from 'vitest';
import type { Service } from './service.ts';

/**
 * Runs a check with an environment that configures a service or none. Creates a new shared recorder for it, and closes
 * it afterwards.
 */
export async function withEnvironment(
  service: Service | undefined,
  check: () => Promise<void>,
): Promise<void> {
  const variables = {
    ACTLOG_BASE_URL: service?.url,
    ACTLOG_API_KEY: service?.apiKey,
    ACTLOG_AGENT_ID: 'from-the-environment',
    ACTLOG_SPOOL_DIR: service?.newFolder(),
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  forgetSharedRecorder();
  try {
    await check();
    if (service) await sharedRecorder().close();
  } finally {
    vi.unstubAllEnvs();
    forgetSharedRecorder();
  }
}

function forgetSharedRecorder(): void {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for('@actlog/recorder/shared')];
}
