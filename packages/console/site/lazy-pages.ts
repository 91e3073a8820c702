import { lazyPage } from './parts/lazy-page.tsx';

const later = () => import('./pages/later-pages.ts');

export const Session = lazyPage(async () => (await import('./pages/session.tsx')).Session);
export const Approvals = lazyPage(async () => (await later()).Approvals);
export const Policies = lazyPage(async () => (await later()).Policies);
export const PolicyEditor = lazyPage(async () => (await later()).PolicyEditor);
export const Decisions = lazyPage(async () => (await later()).Decisions);
export const Agents = lazyPage(async () => (await later()).Agents);
export const Webhooks = lazyPage(async () => (await later()).Webhooks);
export const Webhook = lazyPage(async () => (await later()).Webhook);
export const Judgments = lazyPage(async () => (await later()).Judgments);
export const Keys = lazyPage(async () => (await later()).Keys);
export const Audit = lazyPage(async () => (await later()).Audit);
export const CommandPalette = lazyPage(async () => (await later()).CommandPalette, null);
export const ShortcutList = lazyPage(async () => (await later()).ShortcutList, null);
