// A driver as a C++ class: its copy constructor is the snapshot, its exceptions are findings.
//
//     c++ -std=c++11 -O2 -I ../../c follow.cpp -o follow
//     anabranch explore follow.toml
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

#include <cmath>
#include <deque>
#include <stdexcept>

class Follow {
public:
    void reset(const ab_begin &begin) {
        if (begin.car.wheelbase_m <= 0.0) throw std::invalid_argument("a car without a wheelbase");
        wheelbase_m = begin.car.wheelbase_m;
        recent.assign(5, 0.0);
    }
    void step(const ab_seen &seen, ab_decision &out) {
        const ab_path_seen &path = seen.path;
        recent.push_back(path.lateral);
        recent.pop_front();
        double lateral = 0.0;
        for (double value : recent) lateral += value / double(recent.size());

        const double curvature = path.curvature - 0.5 * lateral - 1.4 * path.direction * path.heading;
        const double speed = seen.speed * path.direction;
        const double wanted = std::fmin(1.0, 0.8 * path.remaining);
        out.steer = std::fmax(-0.6, std::fmin(0.6, wheelbase_m * curvature));
        out.accel = std::fmax(-2.0, std::fmin(1.0, 2.0 * (wanted - speed)));
        out.completed = path.sections_left == 0 && path.to_end < 0.05 && std::fabs(speed) < 0.05;
        out.key[0] = lateral;
    }

private:
    double wheelbase_m = 0.0;
    std::deque<double> recent; // the last five distances from the path
};

int main() {
    static const ab_variable key[] = {{"lateral_mean", "m", 0.05}};
    ab_driver card = ab_driver();
    card.name = "follow in C++";
    card.key = key;
    card.key_count = 1;
    card.cycle_s = 0.02;
    Follow start;
    return anabranch::serve(start, card);
}
