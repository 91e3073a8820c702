/**
 * Tells at once when a generator is left. By itself it only learns of `return` and `throw` when the `next` that it is
 * busy with has ended, which for a page on its way is when the page came.
 *
 * @param leave Ends what the generator waits for.
 */
export function onLeaving<Item>(
  generator: AsyncGenerator<Item, undefined>,
  leave: () => void,
): AsyncGenerator<Item, undefined> {
  for (const name of ['return', 'throw'] as const) {
    const own = generator[name].bind(generator);
    generator[name] = (value) => {
      leave();
      return own(value);
    };
  }
  return generator;
}
