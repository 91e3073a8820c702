/**
 * Selects the functions of an object that keep the object as their `this`, which reading private fields requires.
 *
 * - `every-function`: own functions too, for objects that may be literals with methods, or have callbacks that read
 *   them. Each read of a function returns a new one without the original's own properties.
 * - `class-methods`: only inherited functions. An own function stays the same value, for objects with functions that
 *   are more than code: a schema with properties, or a class. The same applies to `constructor`.
 */
export type BoundFunctions = 'every-function' | 'class-methods';

/**
 * Returns a view of an object with some methods replaced: the same type, the same private fields. A property set on
 * either is visible on both.
 *
 * @param target - object that everything else is read from; getters run on it
 * @param methods - replacements by name, including names that the object lacks
 * @param bound - functions that keep the object as their `this`. Default `every-function`
 */
export function withMethods<Target extends object>(
  target: Target,
  methods: Readonly<Record<string, unknown>>,
  bound: BoundFunctions = 'every-function',
): Target {
  const get = (_own: Target, property: string | symbol): unknown => {
    if (Object.hasOwn(methods, property)) return methods[property as string];
    const value: unknown = Reflect.get(target, property, target);
    if (typeof value !== 'function') return value;
    const isKept =
      bound === 'class-methods' && (Object.hasOwn(target, property) || property === 'constructor');
    return isKept ? value : value.bind(target);
  };
  return allowsView(target, methods, bound)
    ? new Proxy(target, { get })
    : new Proxy(shadowOf(target), { ...passedOnTo(target), get });
}

/**
 * Returns `true` if a proxy of the object may return other values. For a property that cannot change, a proxy must
 * return the original value.
 */
function allowsView(
  target: object,
  methods: Readonly<Record<string, unknown>>,
  bound: BoundFunctions,
): boolean {
  return Reflect.ownKeys(target).every((property) => {
    const own = Reflect.getOwnPropertyDescriptor(target, property);
    if (!own || own.configurable || own.writable || own.get) return true;
    const isBound = bound === 'every-function' && typeof own.value === 'function';
    return !isBound && !Object.hasOwn(methods, property);
  });
}

/**
 * Creates an object of the same type and with the same properties, all configurable, so that a proxy of it is
 * unrestricted.
 */
function shadowOf<Target extends object>(target: Target): Target {
  const own = Object.entries(Object.getOwnPropertyDescriptors(target));
  const free = own.map(([name, descriptor]) => [name, { ...descriptor, configurable: true }]);
  return Object.create(Reflect.getPrototypeOf(target), Object.fromEntries(free)) as Target;
}

/** Forwards all operations except reads to the original object. */
function passedOnTo<Target extends object>(target: Target): ProxyHandler<Target> {
  return {
    set: (_shadow, property, value) => Reflect.set(target, property, value, target),
    has: (_shadow, property) => Reflect.has(target, property),
    deleteProperty: (_shadow, property) => Reflect.deleteProperty(target, property),
    defineProperty: (_shadow, property, descriptor) => Reflect.defineProperty(target, property, descriptor),
    ownKeys: () => Reflect.ownKeys(target),
    getOwnPropertyDescriptor(_shadow, property) {
      const own = Reflect.getOwnPropertyDescriptor(target, property);
      return own && { ...own, configurable: true };
    },
  };
}
