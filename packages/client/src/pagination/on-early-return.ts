/**
 * Calls `onReturn` as soon as `return` or `throw` is called on a generator. The generator itself only notices once its
 * pending `next` settles, which for a page is when the page arrives.
 *
 * @param onReturn Cancels the operation that the generator is waiting for.
 */
export function onEarlyReturn<Item>(
  generator: AsyncGenerator<Item, undefined>,
  onReturn: () => void,
): AsyncGenerator<Item, undefined> {
  for (const name of ['return', 'throw'] as const) {
    const own = generator[name].bind(generator);
    generator[name] = (value) => {
      onReturn();
      return own(value);
    };
  }
  return generator;
}
