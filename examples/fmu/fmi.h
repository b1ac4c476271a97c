/* The part of FMI 2.0 and FMI 3.0 (co-simulation) that a controller needs, written down from the public standard
 * (https://fmi-standard.org). Define FMI as 2 or 3 before including it.
 *
 * A model defines:
 *
 *   typedef struct { ... } Model;                      everything it remembers, plain data
 *   static void model_start(Model *m);                 start values
 *   static double *model_real(Model *m, unsigned vr);  where a variable is, or NULL
 *   static int model_step(Model *m, double time, double length);   returns a status
 *
 * and includes this file afterwards. NO_STATE leaves the functions for saved states out, NO_BYTES those for bytes of states. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define FMI_EXPORT __declspec(dllexport)
#else
#define FMI_EXPORT __attribute__((visibility("default")))
#endif

enum { FMI_OK, FMI_WARNING, FMI_DISCARD, FMI_ERROR, FMI_FATAL };

typedef void (*fmi_logger)(void *environment, const char *instance, int status, const char *category, const char *message, ...);
typedef struct {
    fmi_logger logger;
    void *(*allocate)(size_t count, size_t size);
    void (*free)(void *memory);
    void (*step_finished)(void *environment, int status);
    void *environment;
} fmi_callbacks;
typedef void (*fmi3_logger)(void *environment, int status, const char *category, const char *message);

typedef struct {
    Model model;
    fmi_logger logger;
    fmi3_logger logger3;
    void *environment;
} Component;

#ifndef MODEL_TOKEN
#define MODEL_TOKEN "{anabranch-example}"
#endif

static int fmi_get(Component *c, const uint32_t *references, size_t count, double *values) {
    for (size_t i = 0; i < count; i++) {
        double *value = model_real(&c->model, references[i]);
        if (value == NULL) return FMI_ERROR;
        values[i] = *value;
    }
    return FMI_OK;
}
static int fmi_set(Component *c, const uint32_t *references, size_t count, const double *values) {
    for (size_t i = 0; i < count; i++) {
        double *value = model_real(&c->model, references[i]);
        if (value == NULL) return FMI_ERROR;
        *value = values[i];
    }
    return FMI_OK;
}
static Component *fmi_new(const char *token) {
    if (strcmp(token, MODEL_TOKEN) != 0) return NULL;
    Component *c = calloc(1, sizeof *c);
    if (c != NULL) model_start(&c->model);
    return c;
}

#if FMI == 2
#define FMI_NAME(name) fmi2##name
#define FMI_STATE(before, after) fmi2##before##FMUstate##after
typedef int fmi_boolean;
#else
#define FMI_NAME(name) fmi3##name
#define FMI_STATE(before, after) fmi3##before##FMUState##after
typedef bool fmi_boolean;
#endif

FMI_EXPORT const char *FMI_NAME(GetVersion)(void) { return FMI == 2 ? "2.0" : "3.0"; }
FMI_EXPORT void FMI_NAME(FreeInstance)(void *c) { free(c); }
FMI_EXPORT int FMI_NAME(ExitInitializationMode)(void *c) { (void)c; return FMI_OK; }
FMI_EXPORT int FMI_NAME(Terminate)(void *c) { (void)c; return FMI_OK; }
#ifndef NO_RESET
FMI_EXPORT int FMI_NAME(Reset)(void *c) { memset(&((Component *)c)->model, 0, sizeof(Model)); model_start(&((Component *)c)->model); return FMI_OK; }
#endif

#ifndef NO_STATE
FMI_EXPORT int FMI_STATE(Get, )(void *c, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Model));
    if (*state == NULL) return FMI_ERROR;
    memcpy(*state, &((Component *)c)->model, sizeof(Model));
#ifdef MODEL_AFTER_GET
    MODEL_AFTER_GET(c, state);
#endif
    return FMI_OK;
}
FMI_EXPORT int FMI_STATE(Set, )(void *c, void *state) {
#ifdef MODEL_BEFORE_SET
    MODEL_BEFORE_SET(c, state);
#endif
    memcpy(&((Component *)c)->model, state, sizeof(Model));
    return FMI_OK;
}
FMI_EXPORT int FMI_STATE(Free, )(void *c, void **state) { (void)c; free(*state); *state = NULL; return FMI_OK; }
#ifndef NO_BYTES
FMI_EXPORT int FMI_STATE(Serialized, Size)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Model); return FMI_OK; }
FMI_EXPORT int FMI_STATE(Serialize, )(void *c, void *state, uint8_t *bytes, size_t size) {
    (void)c;
    if (size < sizeof(Model)) return FMI_ERROR;
    memcpy(bytes, state, sizeof(Model));
    return FMI_OK;
}
#endif
#endif

#if FMI == 2
FMI_EXPORT void *fmi2Instantiate(const char *name, int kind, const char *token, const char *resources, const fmi_callbacks *callbacks, int visible, int logging) {
    (void)name; (void)kind; (void)resources; (void)visible; (void)logging;
    Component *c = fmi_new(token);
    if (c == NULL) {
        callbacks->logger(callbacks->environment, name, FMI_ERROR, "logStatusError", "the token is %s instead of %s", token, MODEL_TOKEN);
        return NULL;
    }
    c->logger = callbacks->logger;
    c->environment = callbacks->environment;
    return c;
}
FMI_EXPORT int fmi2SetupExperiment(void *c, int tolerance_defined, double tolerance, double start, int stop_defined, double stop) {
    (void)c; (void)tolerance_defined; (void)tolerance; (void)start; (void)stop_defined; (void)stop;
    return FMI_OK;
}
FMI_EXPORT int fmi2EnterInitializationMode(void *c) { (void)c; return FMI_OK; }
FMI_EXPORT int fmi2GetReal(void *c, const uint32_t *r, size_t n, double *v) { return fmi_get(c, r, n, v); }
FMI_EXPORT int fmi2SetReal(void *c, const uint32_t *r, size_t n, const double *v) { return fmi_set(c, r, n, v); }
#define FMI2_ACCESS(name, type)                                                                       \
    FMI_EXPORT int fmi2Get##name(void *c, const uint32_t *r, size_t n, type *v) {                     \
        for (size_t i = 0; i < n; i++) { double d; int s = fmi_get(c, r + i, 1, &d); if (s) return s; v[i] = (type)d; } \
        return FMI_OK;                                                                                \
    }                                                                                                 \
    FMI_EXPORT int fmi2Set##name(void *c, const uint32_t *r, size_t n, const type *v) {               \
        for (size_t i = 0; i < n; i++) { double d = (double)v[i]; int s = fmi_set(c, r + i, 1, &d); if (s) return s; } \
        return FMI_OK;                                                                                \
    }
FMI2_ACCESS(Integer, int)
FMI2_ACCESS(Boolean, int)
FMI_EXPORT int fmi2GetString(void *c, const uint32_t *r, size_t n, const char **v) { (void)c; (void)r; (void)v; return n ? FMI_ERROR : FMI_OK; }
FMI_EXPORT int fmi2SetString(void *c, const uint32_t *r, size_t n, const char **v) { (void)c; (void)r; (void)v; return n ? FMI_ERROR : FMI_OK; }
#ifndef NO_STEP
FMI_EXPORT int fmi2DoStep(void *c, double time, double length, int no_set_state) {
    (void)no_set_state;
    return model_step(&((Component *)c)->model, time, length);
}
#endif
#else
FMI_EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging, bool event_mode,
        bool early_return, const uint32_t *intermediate, size_t intermediate_count, void *environment, fmi3_logger logger, void *update) {
    (void)name; (void)resources; (void)visible; (void)logging; (void)event_mode; (void)early_return; (void)intermediate; (void)intermediate_count; (void)update;
    Component *c = fmi_new(token);
    if (c == NULL) {
        logger(environment, FMI_ERROR, "logStatusError", "the token is another one");
        return NULL;
    }
    c->logger3 = logger;
    c->environment = environment;
    return c;
}
FMI_EXPORT int fmi3EnterInitializationMode(void *c, bool tolerance_defined, double tolerance, double start, bool stop_defined, double stop) {
    (void)c; (void)tolerance_defined; (void)tolerance; (void)start; (void)stop_defined; (void)stop;
    return FMI_OK;
}
#define FMI3_ACCESS(name, type)                                                                        \
    FMI_EXPORT int fmi3Get##name(void *c, const uint32_t *r, size_t n, type *v, size_t m) {            \
        if (n != m) return FMI_ERROR;                                                                  \
        for (size_t i = 0; i < n; i++) { double d; int s = fmi_get(c, r + i, 1, &d); if (s) return s; v[i] = (type)d; } \
        return FMI_OK;                                                                                 \
    }                                                                                                  \
    FMI_EXPORT int fmi3Set##name(void *c, const uint32_t *r, size_t n, const type *v, size_t m) {      \
        if (n != m) return FMI_ERROR;                                                                  \
        for (size_t i = 0; i < n; i++) { double d = (double)v[i]; int s = fmi_set(c, r + i, 1, &d); if (s) return s; } \
        return FMI_OK;                                                                                 \
    }
FMI3_ACCESS(Float64, double)
FMI3_ACCESS(Float32, float)
FMI3_ACCESS(Int8, int8_t)
FMI3_ACCESS(UInt8, uint8_t)
FMI3_ACCESS(Int16, int16_t)
FMI3_ACCESS(UInt16, uint16_t)
FMI3_ACCESS(Int32, int32_t)
FMI3_ACCESS(UInt32, uint32_t)
FMI3_ACCESS(Int64, int64_t)
FMI3_ACCESS(UInt64, uint64_t)
FMI3_ACCESS(Boolean, bool)
FMI_EXPORT int fmi3GetString(void *c, const uint32_t *r, size_t n, const char **v, size_t m) { (void)c; (void)r; (void)v; (void)m; return n ? FMI_ERROR : FMI_OK; }
FMI_EXPORT int fmi3SetString(void *c, const uint32_t *r, size_t n, const char **v, size_t m) { (void)c; (void)r; (void)v; (void)m; return n ? FMI_ERROR : FMI_OK; }
#ifndef NO_STEP
FMI_EXPORT int fmi3DoStep(void *c, double time, double length, bool no_set_state, bool *event, bool *ends, bool *early, double *reached) {
    (void)no_set_state;
    *event = *ends = *early = false;
    *reached = time + length;
    return model_step(&((Component *)c)->model, time, length);
}
#endif
#endif
