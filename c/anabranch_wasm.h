/* A driver for Anabranch as a WebAssembly module, in C or C++. Interface version 1; docs/wasm-drivers.md tells the story.
 *
 *   #include "anabranch_wasm.h"
 *   ANABRANCH_DRIVER("{\"name\": \"straight on\"}")
 *   int32_t anabranch_reset(const ab_begin *begin) { (void)begin; return 0; }
 *   int32_t anabranch_step(const ab_seen *seen, ab_decision *decision) {
 *     decision->steer = -0.5 * seen->path.lateral;
 *     return 0;
 *   }
 *
 * SI units and radians; x to the east, y to the north, angles counter-clockwise, positions are those of the rear axle.
 * What `begin`, `seen` and `decision` point to is there during the call only: the host clears it afterwards. */
#ifndef ANABRANCH_WASM_H
#define ANABRANCH_WASM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes the host may write what it has to say into. Steps need 400, 72 for each perceived object and 1 400 on roads; a
 * driver that wants walls, path samples or the occupancy around the car needs more, and is told so. */
#ifndef ANABRANCH_ROOM_BYTES
#define ANABRANCH_ROOM_BYTES 16384
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { double x, y, heading, speed; } ab_start;
typedef struct { double x, y, heading, tolerance_m; } ab_goal;
typedef struct {
  double wheelbase_m, length_m, width_m, rear_overhang_m, steering_max_rad, steering_rate_max_radps;
} ab_car;
typedef struct { double start_m, end_m, direction; } ab_section;                 /* direction: +1 or -1 */
typedef struct { double x, y, heading, curvature, station; } ab_sample;
typedef struct { double x1, y1, x2, y2; } ab_wall;

/* Words of the route, of signs and of lights; one of a later host that this header does not know is AB_UNKNOWN. */
enum { AB_UNKNOWN = -1 };
enum { AB_THEN_STRAIGHT_ON, AB_THEN_LEFT, AB_THEN_RIGHT, AB_THEN_ARRIVE };
enum { AB_SIGN_NONE, AB_SIGN_STOP, AB_SIGN_YIELD, AB_SIGN_PRIORITY };
enum { AB_LIGHT_NONE, AB_LIGHT_RED, AB_LIGHT_RED_AMBER, AB_LIGHT_AMBER, AB_LIGHT_GREEN, AB_LIGHT_DARK };

/* A stretch of the route on one lane ("main.1"): where it is entered and left at the latest, and how (AB_THEN_...). */
typedef struct {
  const char *lane; uint32_t lane_bytes;               /* names end with a zero that is not counted */
  double from_m, to_m, then;
} ab_leg;

/* Everything that does not change during a run. */
typedef struct {
  uint64_t seed;                       /* the only source of chance a driver may use */
  double cycle_s, until_s;
  ab_start start;
  ab_goal goal;
  ab_car car;
  double path_length_m;
  const ab_section *sections; uint32_t section_count;
  const ab_sample *samples;   uint32_t sample_count;   /* for those who want "samples" */
  const ab_wall *walls;       uint32_t wall_count;     /* for those who want "walls" */
  const double *params;       uint32_t param_count;
  const char *scenario;       uint32_t scenario_bytes; /* ends with a zero that is not counted */
  const ab_leg *route;        uint32_t leg_count;      /* lanes to follow, where there are roads */
} ab_begin;

typedef struct { double x, y, heading, covariance[9]; } ab_pose;
/* The car relative to its path. */
typedef struct {
  double station, lateral, heading, curvature, remaining, speed_max;
  double direction, section, sections_left;            /* whole numbers */
} ab_path;
typedef struct { double ahead, left, heading; } ab_goal_seen;
typedef struct { double id, x, y, heading, speed, length, width; } ab_object;
/* One byte for each cell, row by row, 0 free, 255 occupied; the car's rear axle is in the middle. */
typedef struct {
  double cell_m;
  const uint8_t *cells;                                /* null for those who do not want "occupancy" */
  uint32_t columns, rows;
  uint32_t reserved;
} ab_occupancy;

/* Velocity of an object eastwards and northwards. */
typedef struct { double vx, vy; } ab_velocity;

/* A lane beside that of the car; `lane` is null where there is none. */
typedef struct {
  const char *lane; uint32_t lane_bytes;
  double apart;                                        /* metres from middle to middle */
  double may_change;                                   /* 1: the line between may be crossed */
} ab_beside;
typedef struct { double x, y, heading, curvature, width, speed_limit; } ab_ahead;
/* A line at which one may have to stop: metres from the rear axle, AB_SIGN_..., AB_LIGHT_... */
typedef struct { double ahead, sign, light; } ab_line;
/* The car on its road, from where it believes to be. */
typedef struct {
  double station, lateral, heading, width, speed_limit; /* along the lane, left of its middle, less its heading */
  double then, then_in, route_left;                    /* AB_THEN_..., metres until that must have happened, of all */
  double step;                                         /* metres between two places ahead */
  const ab_ahead *ahead; uint32_t ahead_count;         /* middle of the lanes ahead; the first is beside the car */
  const ab_line *lines;  uint32_t line_count;          /* the nearest first */
  const char *lane;      uint32_t lane_bytes;
  ab_beside left, right;
} ab_road;

/* Plain sensors: friction, place, heading, speed, front wheels, metres to the right edge of the road, and from the corners to
   the markers of the lane. */
typedef struct {
  double weather, x, y, compass, speed, steer, to_right;
  double front_left, front_right, rear_left, rear_right;
} ab_plain;

/* What the sensors say. */
typedef struct {
  double time, tick;
  ab_pose pose;
  double speed, steer, gear;                           /* speed is negative backwards; gear is +1 or -1 */
  ab_path path;
  ab_goal_seen goal;
  ab_occupancy occupancy;
  const ab_object *objects; uint32_t object_count;
  double to_end;                                       /* metres to the end of the section, whatever stands before it */
  const ab_velocity *velocities;                       /* of the objects, as many */
  const ab_road *road;                                 /* null where there are no roads */
  const ab_plain *plain;                               /* null where the car has no plain sensors */
} ab_seen;

typedef struct { double time_s, x_m, y_m, heading_rad, speed_mps; } ab_point;

/* What the car shall do; all zero when the step begins. */
typedef struct {
  double steer;                                        /* rad, left positive */
  double accel;                                        /* m/s2 along the gear */
  double gear;                                         /* +1, -1, or 0 for the direction of the path */
  double completed;                                    /* 1 when the manoeuvre is completed */
  double *key;              uint32_t key_count;        /* write the values of the card's "key" here, in its order */
  const ab_point *trajectory; uint32_t trajectory_count; /* tracked instead of steer and accel, if there is one */
} ab_decision;

#ifdef __wasm32__
#ifdef __cplusplus
#define AB_LAYOUT(type, bytes) static_assert(sizeof(type) == bytes, "layout of " #type)
#else
#define AB_LAYOUT(type, bytes) _Static_assert(sizeof(type) == bytes, "layout of " #type)
#endif
AB_LAYOUT(ab_begin, 192);
AB_LAYOUT(ab_seen, 288);
AB_LAYOUT(ab_plain, 88);
AB_LAYOUT(ab_leg, 32);
AB_LAYOUT(ab_road, 144);
AB_LAYOUT(ab_decision, 48);
#define AB_EXPORT(name) __attribute__((export_name(#name)))
#else
#define AB_EXPORT(name) /* the same source builds for this machine too, for tests */
#endif

/* Yours. A run begins: always on the memory the module had when it was loaded. Nonzero: it failed. */
AB_EXPORT(anabranch_reset) int32_t anabranch_reset(const ab_begin *begin);
/* Yours. Decide once. Nonzero: it failed; the last line that was logged says why. */
AB_EXPORT(anabranch_step) int32_t anabranch_step(const ab_seen *seen, ab_decision *decision);

#ifdef __wasm32__
/* The only import: text for people. More than 64 KiB in one call of yours counts as misbehaviour. */
__attribute__((import_module("anabranch"), import_name("log"))) void anabranch_log(const char *text, uint32_t bytes);

AB_EXPORT(anabranch_version) int32_t anabranch_version(void);
AB_EXPORT(anabranch_card) const char *anabranch_card(void);
AB_EXPORT(anabranch_room) uint64_t anabranch_room(void);
AB_EXPORT(anabranch_scratch) uint64_t anabranch_scratch(void);

/* Symbols of the linker (wasm-ld); only their addresses mean something. */
extern unsigned char __data_end, __heap_base, __global_base;
extern void __wasm_call_ctors(void);

#ifdef __cplusplus
AB_EXPORT(_initialize) void _initialize(void);
#define AB_INITIALIZE extern "C" void _initialize(void) { __wasm_call_ctors(); }
#define AB_C extern "C"
#else
#define AB_INITIALIZE
#define AB_C
#endif

/* Says what the driver is, as JSON: "name", and if it likes "version", "cycle_s", "key" [{"name", "unit", "cell"}],
 * "memoryless", "wants". Once, outside of any function. */
#define ANABRANCH_DRIVER(json)                                                                                        \
  static unsigned char ab_room_[ANABRANCH_ROOM_BYTES] __attribute__((aligned(8)));                                    \
  AB_C int32_t anabranch_version(void) { return 1; }                                                                  \
  AB_C const char *anabranch_card(void) { return json; }                                                              \
  /* Low half: address, high half: bytes. */                                                                          \
  AB_C uint64_t anabranch_room(void) { return (uint64_t)sizeof ab_room_ << 32 | (uint32_t)(uintptr_t)ab_room_; }      \
  /* The stack, which nobody reads between two calls: the host clears it, so that what is left there does not */     \
  /* make equal states look different. Low half: begin, high half: end. */                                            \
  AB_C uint64_t anabranch_scratch(void) {                                                                             \
    uint32_t data = (uint32_t)(uintptr_t)&__data_end, heap = (uint32_t)(uintptr_t)&__heap_base;                       \
    uint32_t first = (uint32_t)(uintptr_t)&__global_base;                                                             \
    return heap - data >= 1024 ? (uint64_t)heap << 32 | data : (uint64_t)first << 32;                                 \
  }                                                                                                                   \
  AB_INITIALIZE
#else
#define ANABRANCH_DRIVER(json)
#endif

#ifdef __cplusplus
}
#endif
#endif
