import fc from 'fast-check'

/** The cases of property tests are the same in each run: a case that fails is found by its author, not by another change. */
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 20_260_101) })
