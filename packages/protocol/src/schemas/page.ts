import * as z from 'zod';

/** What every page has (specification, "Page of results"). The name of the items array is left open. */
export const fixedPage = z.looseObject({ nextCursor: z.string().nullable() });

/** A page as the reference server sends it. */
export function sentPage<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), nextCursor: z.string().nullable() });
}
