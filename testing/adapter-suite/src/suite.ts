import { afterAll, beforeAll, describe, test } from 'vitest';
import type { AdapterCase } from './adapter-case.ts';
import { abortingCases } from './cases/aborting.ts';
import { changingCases } from './cases/changing.ts';
import { chattingCases } from './cases/chatting.ts';
import { countingCases } from './cases/counting.ts';
import { guardingCases } from './cases/guarding.ts';
import { optionCases } from './cases/options.ts';
import { originCases } from './cases/origins.ts';
import { recordingCases } from './cases/recording.ts';
import { retryingCases } from './cases/retrying.ts';
import { robustnessCases } from './cases/robustness.ts';
import type { AdapterHarness } from './harness.ts';
import { Service } from './service.ts';

/** All requirements for an adapter. */
export const adapterCases: readonly AdapterCase[] = [
  ...recordingCases,
  ...countingCases,
  ...chattingCases,
  ...abortingCases,
  ...guardingCases,
  ...changingCases,
  ...retryingCases,
  ...robustnessCases,
  ...optionCases,
  ...originCases,
];

/** Starts a service with the policies of the cases: `fail` is denied, `echo` needs approval. */
export async function startSuiteService(): Promise<Service> {
  const service = await Service.start();
  const { policies } = service.client;
  await policies.create({ name: 'no', effect: 'deny', match: { tools: ['fail'] }, message: 'Never fail.' });
  await policies.create({
    name: 'ask',
    effect: 'require_approval',
    match: { tools: ['echo'] },
    approval: {
      timeoutSeconds: 900,
      onTimeout: 'deny',
      editable: [{ path: 'text', anyText: true }],
    },
  });
  return service;
}

/** Defines one test for each requirement. */
export function adapterSuite(
  harness: AdapterHarness,
  title = [harness.sdk, harness.hook].filter(Boolean).join(', '),
): void {
  describe(`every adapter: ${title}`, () => {
    let service: Service;
    beforeAll(async () => {
      service = await startSuiteService();
    });
    afterAll(() => service.close());

    for (const [index, { name, appliesTo, check }] of adapterCases.entries()) {
      // docs/adapters.md shows what does not apply to an adapter.
      if (appliesTo?.(harness.abilities, harness) === false) continue;
      test(name, () => check({ harness, service, sessionId: `case-${index}` }));
    }
  });
}
