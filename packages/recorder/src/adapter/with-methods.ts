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

/** Whether a proxy of the object may give other values: for a property that can never change, it must give its own. */
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

/** An object of the same type and with the same properties, none of which binds a proxy of it. */
function shadowOf<Target extends object>(target: Target): Target {
  const own = Object.entries(Object.getOwnPropertyDescriptors(target));
  const free = own.map(([name, descriptor]) => [name, { ...descriptor, configurable: true }]);
  return Object.create(Reflect.getPrototypeOf(target), Object.fromEntries(free)) as Target;
}

/** Has all but reading happen to the object that a shadow stands for. */
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
