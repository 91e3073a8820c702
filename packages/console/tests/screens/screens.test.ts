import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordMonth } from '../../../../examples/quickstart/src/month.ts';
import { type TestServer, testServer } from '../../../server/tests/test-server.ts';
import { ConsoleTab } from '../browser/console-tab.ts';

/** Folder of the screenshots, which CI keeps. */
const folder = join(import.meta.dirname, '..', '..', 'screens');

const widths = [360, 390, 1280, 1440, 2560];

const heightOf = (width: number) => (width < 500 ? 800 : width > 2000 ? 1300 : 900);

/** A page: its address and its heading. */
type Place = readonly [name: string, place: string, heading: string];

const places: readonly Place[] = [
  ['overview', '/?span=30d', 'Overview'],
  ['sessions', '/sessions', 'Sessions'],
  ['sessions-none', '/sessions?id=none&level=high', 'Sessions'],
  ['events', '/events', 'Events'],
  ['approvals', '/approvals', 'Approvals'],
  ['decisions', '/decisions', 'Decisions'],
  ['judgments', '/judgments', 'Judgments'],
  ['policies', '/policies', 'Policies'],
  ['policy-new', '/policies/new', 'New policy'],
  ['agents', '/agents', 'Agents'],
  ['agent', '/agents/support-agent', 'support-agent'],
  ['tools', '/tools', 'Tools'],
  ['webhooks', '/webhooks', 'Webhooks'],
  ['keys', '/keys', 'Keys'],
  ['audit', '/audit', 'Audit log'],
  ['records', '/records', 'Records'],
  ['unknown', '/nowhere', 'Page not found'],
];

/** States of the shell that a user opens on a page. */
const opened = {
  search: (tab: ConsoleTab) => tab.page.keyboard.press('Control+k'),
  shortcuts: (tab: ConsoleTab) => tab.page.keyboard.press('?'),
} as const;

/** Takes a screenshot at each width, of the whole page or of the screen, and returns the faults: sideways scrolling, and broken accessibility rules. */
async function viewsOf(
  tab: ConsoleTab,
  name: string,
  { colorScheme, fullPage = true }: { colorScheme: string; fullPage?: boolean },
): Promise<unknown[]> {
  const { page } = tab;
  const faults: unknown[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: heightOf(width) });
    // Observers of sizes redraw charts.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const beyond = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    const cut = await page
      .locator('.fits')
      .evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth));
    if (Math.max(0, ...cut) > 0) faults.push(`${name} at ${width} px: a column is cut`);
    if (beyond > 0) faults.push(`${name} at ${width} px: ${beyond} px too wide`);
    for (const fault of await tab.accessibilityFaults()) faults.push(`${name} at ${width} px: ${fault}`);
    const path = join(folder, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage, animations: 'disabled' });
  }
  return faults;
}

async function viewAll(
  server: TestServer,
  empty: TestServer,
  own: readonly Place[],
  colorScheme: 'light' | 'dark',
) {
  const options = { colorScheme, viewport: { width: 1280, height: 900 } };
  const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/', options);
  const faults: unknown[] = [];
  for (const [name, place, heading] of [...places, ...own]) {
    await tab.go(place);
    await tab.heading(heading);
    await tab.page.getByText('Loading…').first().waitFor({ state: 'detached' });
    faults.push(...(await viewsOf(tab, name, { colorScheme })));
  }
  await tab.go('/');
  await tab.heading('Overview');
  for (const [name, open] of Object.entries(opened)) {
    await open(tab);
    await tab.page.getByRole('dialog').waitFor();
    faults.push(...(await viewsOf(tab, name, { colorScheme, fullPage: false })));
    await tab.page.keyboard.press('Escape');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await tab.page.setViewportSize({ width: 360, height: 800 });
  await tab.page.getByRole('button', { name: 'Menu' }).click();
  faults.push(...(await tab.accessibilityFaults()));
  await tab.page.screenshot({ path: join(folder, `menu-360-${colorScheme}.png`) });

  const first = await ConsoleTab.open(empty.server.url, empty.apiKey, '/', options);
  await first.page.getByText('No agent has sent an event yet.').waitFor();
  faults.push(...(await viewsOf(first, 'overview-empty', { colorScheme })));
  await first.page.getByRole('button', { name: 'Sign out' }).click();
  await first.heading('actlog');
  faults.push(...(await viewsOf(first, 'sign-in', { colorScheme })));
  return faults;
}

describe('every page with a month of data', () => {
  beforeAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  });

  test('fits from 360 to 2560 pixels and is accessible, in light and dark', async () => {
    const [server, empty] = await Promise.all([testServer(), testServer()]);
    const client = new Actlog({ baseURL: server.server.url, apiKey: server.apiKey });
    await recordMonth(client);
    const { items } = await client.sessions.list({ sort: 'riskScore', limit: 1 });
    const session = items[0]?.id ?? '';
    const tool = items[0]?.toolNames?.[0] ?? '';
    const url = 'https://hooks.example.com/actlog';
    const { id: webhook } = await client.notificationChannels.create({ url });
    const own: readonly Place[] = [
      ['session', `/sessions/${session}`, session],
      ['webhook', `/webhooks/${webhook}`, url],
      ['tool', `/tools/${encodeURIComponent(tool)}`, tool],
    ];
    const faults = await Promise.all(
      (['light', 'dark'] as const).map((scheme) => viewAll(server, empty, own, scheme)),
    );
    expect(faults.flat()).toEqual([]);
  });
});
