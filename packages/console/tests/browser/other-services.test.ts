import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Opens a session whose risk has the shape of another service. */
async function sessionWithRisk(risk: object): Promise<ConsoleTab['page']> {
  const server = await ConsoleServer.create();
  await server.record({});
  const tab = await ConsoleTab.open(server.server.url, server.apiKey);
  await tab.page.route('**/v1/sessions/*/risk', (route) => route.fulfill({ json: risk }));
  await tab.go('/sessions/thread-1');
  return tab.page;
}

describe('console on another service', () => {
  test('does not claim that a service without reasons found none', async () => {
    const page = await sessionWithRisk({ overall: 12.5, areas: { area0: { points: 3 } } });
    await page.getByText('The service gives no reasons.').waitFor();
  });

  test('shows scores of dimensions without reasons', async () => {
    const page = await sessionWithRisk({
      dimensions: [{ id: 'ASI01', name: 'Goal', score: 5, observable: true }],
    });
    await page.getByText('How the score is computed').click();
    await page.getByRole('rowheader', { name: 'ASI01 Goal' }).waitFor();
  });

  test('shows the rest of a page when one part cannot be read', async () => {
    const page = await sessionWithRisk({ dimensions: { ASI01: 5 }, factors: ['it sent mail'] });
    await page.getByRole('alert').getByText('cannot be shown').waitFor();
    await page.getByRole('rowheader', { name: 'refund' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('link', { name: 'billing-agent' }).waitFor();
  });

  test('shows times in words unchanged', async () => {
    const server = await ConsoleServer.create();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/keys');
    const session = { id: 'a', startedAt: 'on Monday' };
    await tab.page.route(/\/v1\/sessions$/, (route) =>
      route.fulfill({ json: { data: [session], nextCursor: null } }),
    );
    await tab.go('/sessions');
    await expect
      .poll(() => tab.page.getByRole('row', { name: 'a ' }).last().textContent())
      .toContain('on Monday');
  });
});
