/** Kinds of usage that are counted per calendar month (UTC). */
export const monthlyKinds = ['events', 'checks'] as const;

/** All kinds of usage counted per tenant. Rows are written in this order, so that writers cannot deadlock. */
export const usageKinds = [
  ...monthlyKinds,
  'sessions',
  'agents',
  'metadataBytes',
  'heldActions',
  'heldActionBytes',
  'decisions',
  'auditEntries',
] as const;

/** Kind of usage that writes keep count of, so that no request has to count rows. */
export type UsageKind = (typeof usageKinds)[number];

/** Amounts by kind of usage. */
export type Usage = Readonly<Record<UsageKind, number>>;
