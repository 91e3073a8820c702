/**
 * Which functions of an object keep it as their `this`; private fields can be read by no other.
 *
 * - `every-function`: own ones too, for objects that may be literals with methods, or hold callbacks that read them.
 *   Each read of a function gives another one, which has none of the first one's own properties.
 * - `class-methods`: only those that it inherits. An own function stays the very same value, for objects that hold
 *   some which are more than code: a schema with properties of its own, or a class. So does `constructor`.
 */
export type BoundFunctions = 'every-function' | 'class-methods';

/**
 * The same object, of the same type and with the same private fields, but for some of its methods. It is a view: what
 * is set on either is there on both.
 *
 * @param target - what all else is read from; getters run on it
 * @param methods - what to have instead, by name; also where the object has nothing of that name
 * @param bound - which of its other functions keep the object as their `this`. Default `every-function`
 */
export function withMethods<Target extends object>(
  target: Target,
  methods: Readonly<Record<string, unknown>>,
  bound: BoundFunctions = 'every-function',
): Target {
  return new Proxy(target, {
    get(own, property) {
      if (Object.hasOwn(methods, property)) return methods[property as string];
      const value: unknown = Reflect.get(own, property, own);
      if (typeof value !== 'function') return value;
      const isKept =
        bound === 'class-methods' && (Object.hasOwn(own, property) || property === 'constructor');
      return isKept ? value : value.bind(own);
    },
  });
}
